"""Synthetic data sets of the paper."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_biclusters

from pyrocco.datasets.dataset import Dataset
from pyrocco.validation import check_count, check_positive, check_random_state, shown

__all__ = ["make_noisy_biclusters"]


def make_noisy_biclusters(
    shape: tuple[int, int] = (100, 100),
    n_clusters: int = 5,
    *,
    noise: float = 10.0,
    random_state: int | np.random.RandomState | None = 0,
) -> Dataset:
    """Generate a matrix with planted biclusters and Gaussian noise.

    This is :func:`sklearn.datasets.make_biclusters`, as in the paper, which uses noise 10 to 50
    and seeds 0 to 29 with the default shape and number of clusters.

    Parameters
    ----------
    shape : tuple of int, default=(100, 100)
        Numbers of rows and of columns.
    n_clusters : int, default=5
        Number of biclusters: each row and each column belongs to one.
    noise : float, default=10
        Standard deviation of the noise; the planted values are between 10 and 100.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    Dataset
        Rows and columns are shuffled; the true labels of both are known.

    Examples
    --------
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> data = make_noisy_biclusters((30, 20), n_clusters=3, noise=5, random_state=0)
    >>> data
    Dataset('biclusters', 30 x 20, 3 row clusters, 3 column clusters)
    >>> data.row_labels.shape, data.column_labels.shape
    ((30,), (20,))
    """
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(f"shape must be a pair of integers of at least 1; got {shown(shape)}.")
    for size in shape:
        check_count("shape", size)
    check_count("n_clusters", n_clusters)
    check_positive("noise", noise, or_zero=True)
    check_random_state(random_state)
    X, rows, columns = make_biclusters(shape, n_clusters, noise=noise, random_state=random_state)
    return Dataset(
        name="biclusters",
        X=X,
        row_labels=rows.argmax(axis=0),
        column_labels=columns.argmax(axis=0),
        class_names=np.array([f"bicluster {i}" for i in range(n_clusters)]),
        feature_names=np.array([f"column {j}" for j in range(shape[1])]),
        description=f"{n_clusters} planted biclusters, Gaussian noise {noise:g}",
    )
