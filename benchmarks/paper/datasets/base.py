"""What a source of data is to the runner: a name, a kind, and a way to load it."""

from __future__ import annotations

from typing import Protocol

from pyrocco.datasets import Dataset

# Label of rows and columns that belong to no group; they are not scored.
NOWHERE = -1


class Source(Protocol):
    """Light enough to be sent to another process, which loads the data itself."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """One of ``"text"``, ``"genes"`` and ``"synthetic"``."""

    @property
    def drawn(self) -> bool:
        """Whether each seed is another matrix."""

    def load(self, seed: int) -> Dataset: ...
