"""Round clouds of rows, far apart and of unequal sizes; the columns have no clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.paper.datasets.planted import Planted, dataset
from pyrocco.datasets import Dataset

# Standard deviation of the centres' coordinates, in standard deviations of a cloud.
APART = 1.5


@dataclass(frozen=True)
class Clouds(Planted):
    """Normal clouds of the given sizes in `n_columns` dimensions."""

    sizes: tuple[int, ...]
    n_columns: int

    @property
    def name(self) -> str:
        return f"clouds-{'-'.join(map(str, self.sizes))}"

    def load(self, seed: int) -> Dataset:
        rng = np.random.default_rng(seed)
        rows = rng.permutation(np.repeat(np.arange(len(self.sizes)), self.sizes))
        centres = rng.normal(0, APART, (len(self.sizes), self.n_columns))
        X = centres[rows] + rng.standard_normal((len(rows), self.n_columns))
        return dataset(X, rows, np.zeros(self.n_columns, dtype=np.int64))
