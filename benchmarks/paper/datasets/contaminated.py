"""Planted biclusters with outlier cells, heavy-tailed noise or missing values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.paper.datasets.planted import Planted, biclusters
from pyrocco.datasets import Dataset

# Sizes of outliers; the planted values lie between 10 and 100.
SIZES = {"moderate": (100.0, 200.0), "gross": (300.0, 1000.0)}


@dataclass(frozen=True)
class Outliers(Planted):
    """A share of the cells is replaced by outliers of random sign."""

    size: str
    percent: int
    noise: float

    @property
    def name(self) -> str:
        return f"{self.size}-{self.percent}%-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        data, rng = biclusters(self.noise, seed), np.random.default_rng(seed)
        values = rng.uniform(*SIZES[self.size], data.X.shape) * rng.choice([-1, 1], data.X.shape)
        return replace(
            data, X=np.where(rng.random(data.X.shape) < self.percent / 100, values, data.X)
        )


@dataclass(frozen=True)
class Clean(Planted):
    """Gaussian noise alone."""

    noise: float

    @property
    def name(self) -> str:
        return f"clean-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        return biclusters(self.noise, seed)


@dataclass(frozen=True)
class StudentNoise(Planted):
    """Student t noise with two degrees of freedom, whose variance is infinite."""

    scale: float

    @property
    def name(self) -> str:
        return f"student-scale{self.scale:g}"

    def load(self, seed: int) -> Dataset:
        data, rng = biclusters(0, seed), np.random.default_rng(seed)
        return replace(data, X=data.X + self.scale * rng.standard_t(2, data.X.shape))


@dataclass(frozen=True)
class Missing(Planted):
    """A share of the values is missing (NaN)."""

    percent: int
    noise: float

    @property
    def name(self) -> str:
        return f"missing-{self.percent}%-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        data, rng = biclusters(self.noise, seed), np.random.default_rng(seed)
        missing = rng.random(data.X.shape) < self.percent / 100
        return replace(data, X=np.where(missing, np.nan, data.X))
