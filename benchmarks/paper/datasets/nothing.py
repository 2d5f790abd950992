"""Matrices without clusters: the correct answer is one row and one column cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.datasets.planted import Planted, dataset
from pyrocco.datasets import Dataset

SHAPE = (200, 100)
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
FACTORS: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.standard_normal(n),
    "linear": lambda rng, n: rng.permutation(np.linspace(0, 1, n)),
}
# Noise of gradients, in standard deviations of the signal.
NOISES = (0.3, 1.0, 3.0)


@dataclass(frozen=True)
class PureNoise(Planted):
    """Gaussian noise."""

    name: str = "pure-noise"

    def load(self, seed: int) -> Dataset:
        return without_clusters(np.random.default_rng(seed).standard_normal(SHAPE))


@dataclass(frozen=True)
class Gradient(Planted):
    """A row factor times a column factor, under noise."""

    factors: str
    noise: float

    @property
    def name(self) -> str:
        return f"gradient-{self.factors}-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        rng = np.random.default_rng(seed)
        signal = np.outer(*(FACTORS[self.factors](rng, side) for side in SHAPE))
        return without_clusters(signal + self.noise * signal.std() * rng.standard_normal(SHAPE))


def without_clusters(X: NDArray[np.float64]) -> Dataset:
    rows, columns = (np.zeros(side, dtype=np.int64) for side in X.shape)
    return dataset(X, rows, columns)
