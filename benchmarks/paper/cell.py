"""One cell of an experiment: a method on a data set with a seed."""

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
    """What to compute, complete enough for another process to do it.

    Parameters
    ----------
    source, method, seed
        The data, what to do with it, and the seed of both.
    columns : bool
        Whether methods that cluster rows are to cluster columns too.
    options : mapping
        Parameters of the method other than its defaults.
    after : Key or None
        A cell no more costly than this: where that one ran out of time, so would this.
    keep : Path or None
        Where to store the representation.
    """

    source: Source
    method: Method
    seed: int
    columns: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    after: Key | None = None
    keep: Path | None = None

    @property
    def key(self) -> Key:
        """Data set, method, seed and options: what the rows of a CSV are known by."""
        options = json.dumps(self.options, sort_keys=True) if self.options else ""
        return self.source.name, self.method.name, str(self.seed), options

    def __str__(self) -> str:
        name, method, seed, options = self.key
        return f"{name} {method} seed {seed} {options}".rstrip()


def grid(
    sources: Iterable[Source], methods: Iterable[Method], seeds: Iterable[int], **rest: Any
) -> Iterator[Cell]:
    """All cells, but one seed only where neither data nor method depends on it."""
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
