"""Approximate nearest neighbours for many rows: the only home of faiss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.graph.distances import SquaredEuclidean, distances_between_rows
from pyrocco.graph.neighbors import ExactSearch, Neighbors, nearest_first

# Rows up to which comparing all with all is as quick (benchmarks/speed/results/neighbors.md).
EXACT_ROWS = 100_000
# Rows asked for at a time: bounds the memory of candidates.
_BLOCK_ROWS = 50_000
_TRAINING_ROWS_PER_CELL = 64


class ApproximateSearch:
    """Compares every row with those of the nearest cells of a k-means partition (faiss IVF).

    The index proposes candidates; their distances are then computed exactly, so that only
    which rows are found is approximate. The partition is drawn with a fixed seed: the same
    data gives the same result. Needs the extra ``ann``.

    Parameters
    ----------
    n_probes : int, default=32
        Cells looked at for every row: more of them find more of the true neighbours.
    n_threads : int, default=None
        Threads at most; None for as many as faiss takes.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("faiss")
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> ApproximateSearch().search(X, 1, "euclidean").indices.ravel().tolist()
    [1, 0, 1]
    """

    name = "approximate"

    def __init__(self, n_probes: int = 32, n_threads: int | None = None):
        self.n_probes = n_probes
        self.n_threads = n_threads

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Return the `n_neighbors` nearest other rows of every row of `X`, most of them true.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
            The rows.
        n_neighbors : int
            Neighbours of each row. Where cells hold fewer, index -1 fills the rest.
        metric : {"euclidean", "cosine"}
            Distance between rows.

        Returns
        -------
        Neighbors
            Nearest first, ties by index; distances are exact.
        """
        faiss = _faiss()
        distances = distances_between_rows(X, metric)
        if sparse.issparse(X) or not isinstance(distances, SquaredEuclidean):
            raise ValueError(
                "ApproximateSearch takes dense rows and the metrics euclidean and cosine; "
                "use ExactSearch."
            )
        with _threads(faiss, self.n_threads):
            return self._search(faiss, distances, n_neighbors)

    def _search(self, faiss: Any, distances: SquaredEuclidean, n_neighbors: int) -> Neighbors:
        n_rows = distances.n_rows
        points = distances.points()
        index = self._index(faiss, points)
        indices = np.full((n_rows, n_neighbors), -1, dtype=np.intp)
        lengths = np.full((n_rows, n_neighbors), np.inf)
        for start in range(0, n_rows, _BLOCK_ROWS):
            rows = np.arange(start, min(start + _BLOCK_ROWS, n_rows))
            # One more than asked for: the row finds itself.
            _, candidates = index.search(points[rows], min(n_neighbors + 6, n_rows))
            candidates = _without_self(candidates.astype(np.intp), rows)
            found = nearest_first(candidates, distances.exact(rows, candidates), n_neighbors)
            indices[rows], lengths[rows] = found.indices, found.distances
        return Neighbors(indices, lengths)

    def _index(self, faiss: Any, points: NDArray[np.float32]) -> Any:
        """Partition the rows by k-means on a sample of them drawn with a fixed seed."""
        n_rows, n_columns = points.shape
        n_cells = max(1, int(2 * np.sqrt(n_rows)))
        coarse = faiss.IndexFlatL2(n_columns)
        index = faiss.IndexIVFFlat(coarse, n_columns, n_cells)
        index.cp.niter = 8
        index.cp.seed = 0
        # Small data has fewer rows than faiss would like for each cell; it need not say so.
        index.cp.min_points_per_centroid = 1
        index.cp.max_points_per_centroid = _TRAINING_ROWS_PER_CELL
        index.train(points)
        index.add(points)
        index.nprobe = min(self.n_probes, n_cells)
        return index


class AutoSearch:
    """Exact up to as many rows as that is quick for, approximate above where it can be.

    Sparse rows, the Manhattan metric, and installations without the extra ``ann`` stay
    exact whatever their size.

    Parameters
    ----------
    n_threads : int, default=None
        As for `ExactSearch`.

    Examples
    --------
    >>> import numpy as np
    >>> AutoSearch().choose(np.zeros((100, 2)), "euclidean").name
    'exact'
    """

    name = "auto"

    def __init__(self, n_threads: int | None = None):
        self.n_threads = n_threads

    def choose(self, X: Any, metric: str) -> ExactSearch | ApproximateSearch:
        """Return the search for these rows."""
        few = X.shape[0] <= EXACT_ROWS
        if few or sparse.issparse(X) or metric == "manhattan" or find_spec("faiss") is None:
            return ExactSearch(self.n_threads)
        return ApproximateSearch(n_threads=self.n_threads)

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Return what the chosen search finds."""
        return self.choose(X, metric).search(X, n_neighbors, metric)


def _faiss() -> ModuleType:
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            "Approximate neighbours need faiss: pip install pyrocco[ann]"
        ) from error
    module: ModuleType = faiss
    return module


@contextmanager
def _threads(faiss: Any, n_threads: int | None) -> Iterator[None]:
    """Limit the threads of faiss, whose setting is the process', for a while."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_threads or before)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _without_self(candidates: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.where(candidates == rows[:, None], -1, candidates)
