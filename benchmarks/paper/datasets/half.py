"""Half of the rows of a real data set, a new half for every seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.paper.datasets.real import Real
from pyrocco.datasets import Dataset


@dataclass(frozen=True)
class Half:
    """A random half of the rows of a real data set.

    Parameters
    ----------
    whole : Real
        The data set.
    """

    whole: Real
    drawn: bool = True

    @property
    def name(self) -> str:
        return f"half of {self.whole.name}"

    @property
    def kind(self) -> str:
        return self.whole.kind

    def load(self, seed: int) -> Dataset:
        data = self.whole.load(0)
        n_rows = data.X.shape[0]
        rows = np.sort(np.random.default_rng(seed).permutation(n_rows)[: n_rows // 2])
        return replace(data, X=data.X[rows], row_labels=data.row_labels[rows])
