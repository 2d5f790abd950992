"""Planted clusters that are difficult to find: unequal sizes, unusual rows, close means."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.datasets import make_biclusters, make_checkerboard

from benchmarks.paper.datasets.base import NOWHERE
from benchmarks.paper.datasets.planted import N_CLUSTERS, SHAPE, Planted, biclusters, dataset
from pyrocco.datasets import Dataset, make_noisy_biclusters


@dataclass(frozen=True)
class Strangers(Planted):
    """Biclusters, and 20 % additional rows and columns of pure noise."""

    noise: float
    share: float = 0.2

    @property
    def name(self) -> str:
        return f"strangers-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        data, rng = biclusters(self.noise, seed), np.random.default_rng(seed)
        more = [round(self.share * side) for side in SHAPE]
        X = self.noise * rng.standard_normal(
            [side + m for side, m in zip(SHAPE, more, strict=True)]
        )
        X[: SHAPE[0], : SHAPE[1]] = data.X
        rows, columns = (
            np.append(labels, np.full(m, NOWHERE))
            for labels, m in zip((data.row_labels, data.column_labels), more, strict=True)
        )
        by_row, by_column = rng.permutation(len(rows)), rng.permutation(len(columns))
        return dataset(X[by_row][:, by_column], rows[by_row], columns[by_column])


@dataclass(frozen=True)
class IdleRows(Planted):
    """Biclusters in which a tenth of the rows is constant and a tenth all zero."""

    noise: float

    @property
    def name(self) -> str:
        return f"idle-rows-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        data, rng = biclusters(self.noise, seed), np.random.default_rng(seed)
        X, labels = data.X.copy(), data.row_labels.copy()
        constant, zero = np.split(rng.permutation(len(X))[: len(X) // 5], 2)
        X[constant] = rng.uniform(10, 100, (len(constant), 1))
        X[zero] = 0
        labels[constant] = labels[zero] = NOWHERE
        return replace(data, X=X, row_labels=labels)


@dataclass(frozen=True)
class Unbalanced(Planted):
    """Biclusters of 50 % to 5 % of the rows and columns."""

    noise: float
    percents: tuple[int, ...] = (50, 25, 13, 7, 5)

    @property
    def name(self) -> str:
        return f"unbalanced-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(len(self.percents)), self.percents)
        rows, columns = rng.permutation(labels), rng.permutation(labels)
        means = np.diag(rng.uniform(10, 100, len(self.percents)))
        noise = self.noise * rng.standard_normal((len(rows), len(columns)))
        return dataset(means[rows][:, columns] + noise, rows, columns)


@dataclass(frozen=True)
class Tiny(Planted):
    """Twelve small biclusters."""

    noise: float
    n_clusters: int = 12
    shape: tuple[int, int] = (200, 200)

    @property
    def name(self) -> str:
        return f"tiny-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        return make_noisy_biclusters(
            self.shape, self.n_clusters, noise=self.noise, random_state=seed
        )


@dataclass(frozen=True)
class Checkerboard(Planted):
    """A mean for every block."""

    n_clusters: tuple[int, int]
    noise: float

    @property
    def name(self) -> str:
        return f"checkerboard-{self.n_clusters[0]}x{self.n_clusters[1]}-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        X, rows, columns = make_checkerboard(
            SHAPE, self.n_clusters, noise=self.noise, random_state=seed
        )
        across = self.n_clusters[1]
        return dataset(X, rows[::across].argmax(axis=0), columns[:across].argmax(axis=0))


@dataclass(frozen=True)
class CloseMeans(Planted):
    """Biclusters with means from 10 to 30."""

    noise: float

    @property
    def name(self) -> str:
        return f"close-means-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        X, rows, columns = make_biclusters(
            SHAPE, N_CLUSTERS, noise=self.noise, minval=10, maxval=30, random_state=seed
        )
        return dataset(X, rows.argmax(axis=0), columns.argmax(axis=0))
