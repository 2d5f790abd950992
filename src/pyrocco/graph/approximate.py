"""Approximate nearest neighbours for many rows, and the choice between it and the exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.kernels import search as kernels
from pyrocco.graph.distances import SquaredEuclidean, distances_between_rows
from pyrocco.graph.neighbors import ExactSearch, Neighbors, in_threads, nearest_first

# Rows up to which all are compared with all (see benchmarks/speed/results/neighbors.md).
EXACT_ROWS = 100_000
# Rows asked for together: enough for products worth their overhead, few enough for threads.
_BLOCK_ROWS = 8192
_SPARE = 5
_LLOYD_ROUNDS = 6
_SAMPLE_PER_CELL = 32


class ApproximateSearch:
    """Compares every row with those of the cells of a k-means partition nearest to it.

    Distances of what is found are exact; only which rows are found is approximate. Rows
    without cluster structure need more probes than such with. The partition starts from
    rows drawn with a fixed seed: the same data gives the same result, whatever the threads.

    Parameters
    ----------
    n_probes : int, default=64
        Cells looked at for every row, of about ``2 * sqrt(n_rows)``. Of a million rows without
        structure inside their clusters 64 find 71 % of the nearest, 128 find 91 % in 1.6 times
        the time, 256 nearly all in 2.7 times (see benchmarks/speed/results/probes.md).
    n_threads : int, default=None
        Threads at most; None for as many as linear algebra may use at the time.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> ApproximateSearch().search(X, 1, "euclidean").indices.ravel().tolist()
    [1, 0, 1]
    """

    name = "approximate"

    def __init__(self, n_probes: int = 64, n_threads: int | None = None):
        self.n_probes = n_probes
        self.n_threads = n_threads

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Return `n_neighbors` near rows of every row of `X`, most of them the nearest.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
            The rows.
        n_neighbors : int
            Neighbours of each row. Where the cells hold fewer, index -1 fills the rest.
        metric : {"euclidean", "cosine"}
            Distance between rows.

        Returns
        -------
        Neighbors
            Nearest first, ties by index; distances are exact.
        """
        distances = None if sparse.issparse(X) else distances_between_rows(X, metric)
        if not isinstance(distances, SquaredEuclidean):
            raise ValueError(
                "ApproximateSearch takes dense rows and the metrics euclidean and cosine; "
                "ExactSearch takes all."
            )
        n_rows = distances.n_rows
        found = Neighbors(
            np.empty((n_rows, n_neighbors), dtype=np.intp), np.empty((n_rows, n_neighbors))
        )

        def look(block: slice) -> None:
            rows, candidates = partition.candidates(block, self.n_probes, n_neighbors)
            lengths = distances.exact(rows, candidates)
            chosen = nearest_first(candidates, lengths, n_neighbors)
            found.indices[rows], found.distances[rows] = chosen.indices, chosen.distances

        partition = _Partition(distances.points(), self.n_threads)
        in_threads(look, _blocks(n_rows), self.n_threads)
        return found


class AutoSearch:
    """Exact up to as many rows as that is quick for, approximate above.

    Sparse rows and the Manhattan metric stay exact whatever their number.

    Parameters
    ----------
    n_threads : int, default=None
        Threads at most; None for as many as linear algebra may use at the time.

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
        if X.shape[0] <= EXACT_ROWS or sparse.issparse(X) or metric == "manhattan":
            return ExactSearch(self.n_threads)
        return ApproximateSearch(n_threads=self.n_threads)

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Return what the chosen search finds."""
        return self.choose(X, metric).search(X, n_neighbors, metric)


class _Partition:
    """Rows sorted by the cell of a k-means partition they lie in."""

    def __init__(self, points: NDArray[np.float32], n_threads: int | None):
        self.centres = cell_centres(points, max(1, int(2 * np.sqrt(len(points)))), n_threads)
        cells = _nearest_centres(points, self.centres, n_threads)
        self.order = np.argsort(cells, kind="stable")
        self.ends = np.cumsum(np.bincount(cells, minlength=len(self.centres)))
        self.points = points[self.order]
        self.squares = np.einsum("ij,ij->i", self.points, self.points)
        self._places = np.arange(len(points))

    def candidates(
        self, block: slice, n_probes: int, n_neighbors: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows at the sorted places of `block` and the nearest in their cells."""
        size = block.stop - block.start
        count = min(n_neighbors + _SPARE, len(self.order))
        indices = np.full((size, count), -1, dtype=np.intp)
        values = np.full((size, count), np.inf, dtype=np.float32)
        for cell, asking in self._visits(block, min(n_probes, len(self.centres))):
            part = slice(self.ends[cell - 1] if cell else 0, self.ends[cell])
            self._visit(part, block.start + asking, asking, indices, values)
        return self.order[block], np.where(indices < 0, -1, self.order[indices])

    def _visits(self, block: slice, n_probes: int) -> list[tuple[int, NDArray[np.intp]]]:
        """Turn the cells that each row asks for into the rows that ask for each cell."""
        scores = centre_scores(self.points[block], self.centres)
        probes = np.argpartition(scores, n_probes - 1, axis=1)[:, :n_probes].astype(np.uint16)
        by_cell = np.argsort(probes, axis=None, kind="stable")
        counts = np.bincount(probes.ravel(), minlength=len(self.centres))
        asking = np.split(by_cell // n_probes, np.cumsum(counts)[:-1])
        return [(int(cell), asking[cell]) for cell in np.flatnonzero(counts)]

    def _visit(
        self,
        part: slice,
        places: NDArray[np.intp],
        asking: NDArray[np.intp],
        indices: NDArray[np.intp],
        values: NDArray[np.float32],
    ) -> None:
        products = self.points[places] @ self.points[part].T
        near, lengths = indices[asking], values[asking]
        kernels.nearer(
            products, self.squares[places], self.squares[part],
            places, self._places[part], part.start, near, lengths,
        )  # fmt: skip
        indices[asking], values[asking] = near, lengths


def cell_centres(
    points: NDArray[np.float32], n_cells: int, n_threads: int | None
) -> NDArray[np.float32]:
    """A few rounds of Lloyd's k-means on a sample."""
    rng = np.random.default_rng(0)
    size = min(len(points), n_cells * _SAMPLE_PER_CELL)
    sample = points[np.sort(rng.choice(len(points), size, replace=False))]
    centres = sample[np.sort(rng.choice(size, n_cells, replace=False))]
    for _ in range(_LLOYD_ROUNDS):
        cells = _nearest_centres(sample, centres, n_threads)
        counts = np.bincount(cells, minlength=n_cells)
        members = sparse.csr_array(
            (np.ones(size, dtype=np.float32), (cells, np.arange(size))), shape=(n_cells, size)
        )
        # A cell that lost all its rows stays where it was.
        means = (members @ sample) / np.maximum(counts, 1)[:, None]
        centres = np.where(counts[:, None] > 0, means, centres).astype(np.float32)
    return centres


def _nearest_centres(
    points: NDArray[np.float32], centres: NDArray[np.float32], n_threads: int | None
) -> NDArray[np.uint16]:
    # As 16-bit numbers, which NumPy sorts by radix.
    cells = np.empty(len(points), dtype=np.uint16)

    def assign(block: slice) -> None:
        cells[block] = centre_scores(points[block], centres).argmin(axis=1)

    in_threads(assign, _blocks(len(points)), n_threads)
    return cells


def centre_scores(
    points: NDArray[np.float32], centres: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Numbers that order the distances from each of `points` to the centres."""
    scores: NDArray[np.float32] = points @ centres.T
    scores *= -2
    scores += np.einsum("ij,ij->i", centres, centres)
    return scores


def _blocks(n_rows: int) -> list[slice]:
    starts = range(0, n_rows, _BLOCK_ROWS)
    return [slice(start, min(start + _BLOCK_ROWS, n_rows)) for start in starts]
