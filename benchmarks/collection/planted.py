"""Planted matrices: blocks in cells of many kinds, and noise without blocks.

Every case has a `reference`, the labels that hard EM of its family gives from the true labels.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.collection.reference import (
    Bernoulli,
    Family,
    Gaussian,
    Labels,
    Matrix,
    Poisson,
    ScaledGaussian,
    hard_em,
)
from benchmarks.paper.datasets.nothing import SHAPE as NOISE_SHAPE
from benchmarks.paper.datasets.nothing import without_clusters
from benchmarks.paper.datasets.planted import Planted, dataset
from pyrocco.datasets import Dataset

Shape = tuple[int, int]


class Blocks(Planted):
    """Blocks of one kind of cells; a subclass has a name, a shape, a family and `draw`."""

    name: str
    shape: Shape
    n_clusters: Shape
    family: ClassVar[Family]

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        """Return the cells of a matrix with `labels`."""
        raise NotImplementedError

    def draw_labels(self, rng: np.random.Generator) -> Labels:
        """Return labels of rows and columns, all clusters equally likely."""
        sides = zip(self.n_clusters, self.shape, strict=True)
        rows, columns = (rng.integers(k, size=n) for k, n in sides)
        return Labels(rows, columns, self.n_clusters)

    def family_values(self, X: Matrix) -> Matrix:
        """Return the values to which the family applies."""
        return X

    def load(self, seed: int) -> Dataset:
        rng = generator(self.name, seed)
        labels = self.draw_labels(rng)
        return dataset(self.draw(rng, labels), labels.rows, labels.columns)

    def reference(self, data: Dataset) -> Labels:
        start = Labels(data.row_labels, data.column_labels, self.n_clusters)
        return hard_em(self.family_values(data.X), start, self.family)


def generator(name: str, seed: int) -> np.random.Generator:
    """Return random numbers that differ between cases with the same seed."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


@dataclass(frozen=True)
class Counts(Blocks):
    """Poisson counts with gamma row and column effects; the diagonal blocks are higher."""

    base: float
    factor: float
    shape: Shape = (400, 300)
    n_clusters: Shape = (5, 5)
    family: ClassVar[Family] = Poisson()

    @property
    def name(self) -> str:
        return f"counts-base{self.base:g}-x{self.factor:g}"

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        blocks = np.where(np.eye(self.n_clusters[0]), self.factor, 1.0)
        rates = self.base * margin_effects(rng, self.shape) * labels.spread(blocks)
        return rng.poisson(rates).astype(float)


def margin_effects(rng: np.random.Generator, shape: Shape) -> Matrix:
    """Return row effect x column effect of every cell, gamma of shape 2 and mean 1."""
    return np.outer(*(rng.gamma(2.0, 0.5, side) for side in shape))


@dataclass(frozen=True)
class YesNo(Blocks):
    """Yes/no cells; the probability of a block is uniform between two numbers."""

    low: float
    high: float
    shape: Shape = (200, 150)
    n_clusters: Shape = (4, 3)
    family: ClassVar[Family] = Bernoulli()

    @property
    def name(self) -> str:
        return f"yes-no-{self.low:g}-{self.high:g}"

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        p = rng.uniform(self.low, self.high, self.n_clusters)
        return rng.binomial(1, labels.spread(p)).astype(float)


@dataclass(frozen=True)
class SparseYesNo(Blocks):
    """Rare yes cells, more of them in the diagonal blocks."""

    name: str = "sparse-yes-no"
    inside: float = 0.10
    outside: float = 0.02
    shape: Shape = (500, 400)
    n_clusters: Shape = (5, 5)
    family: ClassVar[Family] = Bernoulli()

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        p = np.where(np.eye(self.n_clusters[0]), self.inside, self.outside)
        return rng.binomial(1, labels.spread(p)).astype(float)


@dataclass(frozen=True)
class ScaledColumns(Blocks):
    """Gaussian blocks; the scales of the columns are log-normal."""

    name: str = "column-scales"
    noise: float = 2.0
    sigma: float = 1.5
    shape: Shape = (200, 150)
    n_clusters: Shape = (4, 4)
    family: ClassVar[Family] = ScaledGaussian()

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        cells = gaussian_blocks(rng, labels, self.noise)
        return cells * rng.lognormal(sigma=self.sigma, size=self.shape[1])


@dataclass(frozen=True)
class LogNormal(Blocks):
    """Cells whose logarithms are Gaussian blocks under noise of standard deviation `sigma`."""

    name: str = "log-normal"
    noise: float = 2.0
    sigma: float = 1.0
    shape: Shape = (200, 150)
    n_clusters: Shape = (4, 4)
    family: ClassVar[Family] = Gaussian()

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        return np.exp(self.sigma / self.noise * gaussian_blocks(rng, labels, self.noise))

    def family_values(self, X: Matrix) -> Matrix:
        return np.log(X)


@dataclass(frozen=True)
class Ratings(Blocks):
    """Ratings from 1 to 5 with row effects, of which most are missing."""

    name: str = "ratings"
    missing: float = 0.85
    noise: float = 1.0
    effects: float = 1.0
    shape: Shape = (300, 200)
    n_clusters: Shape = (4, 4)
    family: ClassVar[Family] = Gaussian(row_effects=True)

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        effects = rng.normal(scale=self.effects, size=(self.shape[0], 1))
        cells = 3 + effects + gaussian_blocks(rng, labels, self.noise)
        ratings = np.clip(np.rint(cells), 1, 5)
        return np.where(rng.random(self.shape) < self.missing, np.nan, ratings)


@dataclass(frozen=True)
class FewColumns(Blocks):
    """Gaussian blocks in a few columns; the other columns are noise.

    The first column cluster contains the columns of noise. The informative ones form four
    clusters of equal size.
    """

    name: str = "20-of-500-columns"
    informative: int = 20
    strength: float = 1.5
    shape: Shape = (200, 500)
    n_clusters: Shape = (4, 5)
    family: ClassVar[Family] = Gaussian()

    def draw_labels(self, rng: np.random.Generator) -> Labels:
        rows = rng.integers(self.n_clusters[0], size=self.shape[0])
        columns = np.zeros(self.shape[1], dtype=np.int64)
        columns[: self.informative] = 1 + np.arange(self.informative) % (self.n_clusters[1] - 1)
        return Labels(rows, rng.permutation(columns), self.n_clusters)

    def draw(self, rng: np.random.Generator, labels: Labels) -> Matrix:
        means = self.strength * rng.standard_normal(self.n_clusters)
        means[:, 0] = 0
        return labels.spread(means) + rng.standard_normal(self.shape)


def gaussian_blocks(rng: np.random.Generator, labels: Labels, noise: float) -> Matrix:
    """Return standard normal block means under Gaussian noise."""
    cells = labels.spread(rng.standard_normal(labels.n_clusters))
    return cells + noise * rng.standard_normal(cells.shape)


Draw = Callable[[np.random.Generator], NDArray[np.generic]]


def _normal(rng: np.random.Generator) -> Matrix:
    return rng.standard_normal(NOISE_SHAPE)


def _poisson(rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.poisson(2.0, NOISE_SHAPE)


def _poisson_with_effects(rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.poisson(2.0 * margin_effects(rng, NOISE_SHAPE))


def _fair(rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.binomial(1, 0.5, NOISE_SHAPE)


def _rare(rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.binomial(1, 0.05, NOISE_SHAPE)


def _marks(rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.integers(1, 6, NOISE_SHAPE)


def _lognormal(rng: np.random.Generator) -> Matrix:
    return rng.lognormal(size=NOISE_SHAPE)


DRAWS: dict[str, Draw] = {
    "normal": _normal,
    "Poisson": _poisson,
    "Poisson, row and column effects": _poisson_with_effects,
    "yes/no, half": _fair,
    "yes/no, 5 %": _rare,
    "marks 1-5": _marks,
    "log-normal": _lognormal,
}


@dataclass(frozen=True)
class Noise(Planted):
    """Independent cells: the correct answer is one cluster on each side."""

    cells: str

    @property
    def name(self) -> str:
        return f"noise: {self.cells}"

    def load(self, seed: int) -> Dataset:
        return without_clusters(DRAWS[self.cells](generator(self.name, seed)).astype(float))


CASES: tuple[Blocks, ...] = (
    Counts(base=5, factor=1.3),
    Counts(base=0.3, factor=3),
    Counts(base=0.3, factor=1.7),
    YesNo(0.1, 0.9),
    YesNo(0.3, 0.7),
    SparseYesNo(),
    ScaledColumns(),
    LogNormal(),
    Ratings(),
    FewColumns(),
)
NOISES = tuple(Noise(cells) for cells in DRAWS)
