"""The cases of the robustness experiment."""

from __future__ import annotations

from benchmarks.paper.datasets.awkward import (
    Checkerboard,
    CloseMeans,
    IdleRows,
    Strangers,
    Tiny,
    Unbalanced,
)
from benchmarks.paper.datasets.base import Source
from benchmarks.paper.datasets.contaminated import Clean, Missing, Outliers, StudentNoise
from benchmarks.paper.datasets.nothing import FACTORS, NOISES, Gradient, PureNoise

PERCENTS = (5, 10, 20, 30)
# For comparison only: not ranked.
CLEAN = Clean(50)
PLANTED: tuple[Source, ...] = (
    *(Outliers("moderate", percent, 50) for percent in PERCENTS),
    *(Outliers("gross", percent, 50) for percent in PERCENTS),
    *(Outliers("moderate", percent, 30) for percent in (20, 30)),
    Outliers("gross", 20, 30),
    *(StudentNoise(scale) for scale in (30, 40)),
    Strangers(50),
    IdleRows(50),
    Unbalanced(30),
    Tiny(30),
    CloseMeans(30),
    Checkerboard((4, 4), 80),
)
# A single number of clusters for both sides would be wrong for one of them.
UNKNOWN_ONLY: tuple[Source, ...] = (Checkerboard((4, 3), 80),)
GRADIENTS = tuple(Gradient(factors, noise) for factors in FACTORS for noise in NOISES)
NOTHING: tuple[Source, ...] = (PureNoise(), *GRADIENTS)
# Shown in a separate table: methods that accept no missing values get another matrix.
MISSING: tuple[Source, ...] = (Clean(30), *(Missing(percent, 30) for percent in (10, 30, 50)))
MISSING_SETS = [source.name for source in MISSING]
SETS = [source.name for source in (CLEAN, *PLANTED, *UNKNOWN_ONLY, *NOTHING, *MISSING)]
