"""Common code of the robustness benchmark: random matrices with known clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.datasets.base import NOWHERE
from pyrocco.datasets import Dataset, make_noisy_biclusters

SHAPE = (100, 100)
N_CLUSTERS = 5


class Planted:
    """A source that draws a new matrix for every seed."""

    kind = "synthetic"
    drawn = True


def biclusters(noise: float, seed: int) -> Dataset:
    return make_noisy_biclusters(SHAPE, N_CLUSTERS, noise=noise, random_state=seed)


def dataset(
    X: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> Dataset:
    """Return a matrix with its clusters; rows and columns labelled NOWHERE are not scored."""
    return Dataset(
        name="planted",
        X=X,
        row_labels=rows,
        column_labels=columns,
        class_names=np.array([f"cluster {i}" for i in np.unique(rows[rows != NOWHERE])]),
        feature_names=np.array([f"column {j}" for j in range(X.shape[1])]),
        description="planted clusters",
    )
