"""A cell of an experiment: one method on one data set with one seed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.paper.datasets import Source
from benchmarks.paper.methods import Method

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Cell:
    """One computation, with everything that a worker process needs.

    Parameters
    ----------
    source, method, seed
        The data, the method, and the seed of both.
    columns : bool
        Whether one-sided methods also cluster the columns.
    options : mapping
        Parameters of the method other than its defaults.
    after : Key or None
        A cheaper cell; if it ran out of time, this cell is not tried.
    keep : Path or None
        Where to store the representation.
    device : {"cpu", "cuda"}
        Where to compute; not part of the key, because the labels are the same.
    """

    source: Source
    method: Method
    seed: int
    columns: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    after: Key | None = None
    keep: Path | None = None
    device: str = "cpu"

    @property
    def key(self) -> Key:
        """Data set, method, seed and options: the key of a line in the CSV file."""
        options = json.dumps(self.options, sort_keys=True) if self.options else ""
        return self.source.name, self.method.name, str(self.seed), options

    def __str__(self) -> str:
        name, method, seed, options = self.key
        return f"{name} {method} seed {seed} {options}".rstrip()


def grid(
    sources: Iterable[Source], methods: Iterable[Method], seeds: Iterable[int], **rest: Any
) -> Iterator[Cell]:
    """Yield all cells; only one seed if neither the data nor the method depends on it."""
    seeds, methods = list(seeds), list(methods)
    for source in sources:
        for method in methods:
            random = source.drawn or source.kind in method.random_on
            after = _cheaper(source, method, seeds)
            for seed in seeds if random else seeds[:1]:
                cell = Cell(source, method, seed, after=after, **rest)
                after = cell.key
                yield cell


def _cheaper(source: Source, method: Method, seeds: list[int]) -> Key | None:
    return (source.name, method.after, str(seeds[0]), "") if method.after else None
