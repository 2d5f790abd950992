"""An experiment: cells to compute, and a report about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.paper.cell import Cell
from benchmarks.paper.methods import METHODS, Method


@dataclass(frozen=True)
class Request:
    """Options of the command line; None selects the default of the experiment."""

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
        Name on the command line.
    title : str
        Short description.
    cells : callable
        Takes a Request and returns the cells to compute.
    report : callable
        Takes all finished cells, a folder and whether the run was a quick one, and writes
        ``name.md`` and ``name.png``.
    """

    name: str
    title: str
    cells: Callable[[Request], list[Cell]]
    report: Callable[[pd.DataFrame, Path, bool], None]
