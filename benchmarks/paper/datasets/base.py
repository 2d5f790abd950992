"""A source of data: a name, a kind, and a method that loads it."""

from __future__ import annotations

from typing import Protocol

from pyrocco.datasets import Dataset

# Label of rows and columns that belong to no cluster; they are not scored.
NOWHERE = -1


class Source(Protocol):
    """A small object that is sent to a worker process, which loads the data."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """One of ``"text"``, ``"genes"`` and ``"synthetic"``."""

    @property
    def drawn(self) -> bool:
        """Whether each seed gives a new matrix."""

    def load(self, seed: int) -> Dataset: ...
