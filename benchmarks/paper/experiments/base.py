"""What an experiment is: cells to compute and a report to write from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.paper.cell import Cell
from benchmarks.paper.methods import METHODS, Method


@dataclass(frozen=True)
class Request:
    """What the command line asks for; None means the experiment's own choice."""

    quick: bool = False
    seeds: int | None = None
    methods: Sequence[str] | None = None
    datasets: Sequence[str] | None = None

    def pick_seeds(self, full: int, quick: int) -> range:
        return range(self.seeds or (quick if self.quick else full))

    def pick_methods(self, default: Sequence[str]) -> list[Method]:
        return [METHODS[name] for name in self.methods or default]


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title : str
        What it is about.
    cells : callable
        From a Request to the cells to compute.
    report : callable
        From all finished cells, a folder and whether the run was a quick one, write
        ``name.md`` and ``name.png``.
    """

    name: str
    title: str
    cells: Callable[[Request], list[Cell]]
    report: Callable[[pd.DataFrame, Path, bool], None]
