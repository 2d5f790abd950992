"""The default assignment: read the matrix, then label rows and columns accordingly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pyrocco.assign.assignment import Assignment, Numbers, SideLabels
from pyrocco.assign.base import compact
from pyrocco.assign.blockmodel import BlockData, BlockFit, indicator
from pyrocco.assign.blockmodel.data import Pair
from pyrocco.assign.blockmodel.extend import extend
from pyrocco.assign.communities import community_labels
from pyrocco.assign.confidence import distance_members
from pyrocco.assign.features import directions, leading_features, leading_scores
from pyrocco.assign.lloyd import cluster_means, lloyd
from pyrocco.assign.reading import LEAST_SIDE, Reading, read_matrix
from pyrocco.assign.sampled import FEW, SampledRows
from pyrocco.assign.touching import unite_touching
from pyrocco.backends import Backend, NumpyBackend, Rotation, is_missing, map_rows

# Clusters a side from which the search for blocks starts: once fine, once coarse.
_STARTS = (40, 8)
# Cells of the sample in which blocks are sought.
_BLOCK_CELLS = 250_000
# Contact, as a share of that by chance, that makes two clusters one: where cells are filled,
# and where most are zero and rows know little of each other. Chosen on matrices that are in
# none of the paper's tables (docs/labels.md).
_TOUCHING, _TOUCHING_SPARSE = 0.4, 0.5


class CoClusterer:
    """Labels of rows and columns together, by what the matrix is made of.

    Nothing is drawn at random but the samples of a large matrix, and these are drawn by the
    contents of rows and columns: permuting the rows of a matrix permutes its labels.

    Parameters
    ----------
    blocks : bool
        Whether the matrix may be made of blocks of like cells; not where most cells are
        zero.
    sample_size : int
        Rows, and columns, on which the number of clusters is chosen.
    random_state : RandomState
        Draws the samples.
    backend : Backend, optional
        Where data and representation live; NumPy unless given.
    by_length : bool
        Whether the length of a row counts in the end, beside its direction; not where most
        cells are zero, and length is mostly that of a text.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron(np.eye(3), np.full((8, 9), 9.0))
    >>> X += np.random.default_rng(0).standard_normal(X.shape)
    >>> found = CoClusterer().assign(X, X, (None, None))
    >>> found.reading, np.bincount(found.row_labels).tolist()
    ('blocks', [8, 8, 8])
    """

    def __init__(
        self,
        blocks: bool = True,
        sample_size: int = 1000,
        random_state: np.random.RandomState | None = None,
        backend: Backend | None = None,
        by_length: bool = True,
    ):
        self.blocks = blocks
        self.by_length = by_length
        self.sample_size = sample_size
        self.random_state = random_state or np.random.RandomState(0)
        self.backend = backend or NumpyBackend()

    def assign(self, X: Any, U: Any, numbers: Numbers) -> Assignment:
        """Label both sides."""
        sides = self._sampled(X, U, 0), self._sampled(X, self.backend.transpose(U), 1)
        reading = self._read(X, sides, numbers)
        if reading.kind == "blocks" and reading.fit is not None:
            return self._by_blocks(X, reading.fit, sides, reading.contaminated)
        return self._by_features(X, U, sides, numbers, reading)

    def _sampled(self, X: Any, U: Any, axis: int) -> SampledRows:
        features = leading_features(U, backend=self.backend)
        return SampledRows.draw(
            features,
            self.sample_size,
            self.random_state,
            lambda: self.backend.content_keys(X, axis),
        )

    def _read(self, X: Any, sides: tuple[SampledRows, SampledRows], numbers: Numbers) -> Reading:
        if not self.blocks or min(len(side.index) for side in sides) < LEAST_SIDE:
            return Reading("features")
        places = _corner(sides)
        rows, columns = (side.index[kept] for side, kept in zip(sides, places, strict=True))
        corner = self.backend.to_numpy(X[rows][:, columns])
        corner = np.ascontiguousarray(corner, dtype=np.float64)
        starts = [_start(sides, places, k) for k in _STARTS]
        # Products this small are slower in several threads.
        with threadpool_limits(1):
            return read_matrix(corner, starts, numbers)

    def _by_blocks(
        self,
        X: Any,
        fit: BlockFit,
        sides: tuple[SampledRows, SampledRows],
        contaminated: bool,
    ) -> Assignment:
        places = _corner(sides)
        index = sides[0].index[places[0]], sides[1].index[places[1]]
        members = extend(BlockData(X, self.backend), fit, index)
        rows, columns = (SideLabels.judge(part.argmax(axis=1), part) for part in members)
        return Assignment(rows, columns, "blocks", contaminated)

    def _by_features(
        self,
        X: Any,
        U: Any,
        sides: tuple[SampledRows, SampledRows],
        numbers: Numbers,
        reading: Reading,
    ) -> Assignment:
        if reading.kind == "gradient":
            numbers = numbers[0] or 1, numbers[1] or 1
        turn = self.backend.transpose
        rows = self._side(sides[0], numbers[0], lambda: self._filled(X, U))
        columns = self._side(sides[1], numbers[1], lambda: turn(self._filled(X, U)))
        return Assignment(rows, columns, reading.kind, reading.contaminated)

    def _side(self, side: SampledRows, number: int | None, data: Callable[[], Any]) -> SideLabels:
        labels = compact(community_labels(side, number, self.backend))
        n_clusters = int(labels.max()) + 1
        places, names = side.features, np.arange(n_clusters)
        if n_clusters > 1 and (number is None or self.by_length):
            scores = leading_scores(data(), backend=self.backend)
            if number is None:
                near = directions(scores[side.index])
                contact = _TOUCHING if self.by_length else _TOUCHING_SPARSE
                names = unite_touching(near, labels[side.index], n_clusters, contact)
            if self.by_length:
                places, labels = scores, self._settled(scores, labels, n_clusters)
        # Some clusters may have lost all their rows.
        labels, names = compact(labels), compact(names[np.unique(labels)])
        # Parts of a cluster remain its centres: what is near to one of them is in it.
        members = map_rows(Rotation(indicator(names)), distance_members(places, labels))
        return SideLabels.judge(names[labels], members)

    def _settled(self, scores: Any, labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
        """Labels by place: rows near the mean of all have no direction to go by."""
        centres = cluster_means(scores, labels, n_clusters)
        return lloyd(scores, centres, FEW, self.backend)

    def _filled(self, X: Any, U: Any) -> Any:
        """The data, its missing cells as in the representation."""
        if not self.backend.in_one_place:
            return X  # refused on the way in
        gaps = is_missing(X)
        if not gaps.any():
            return X
        X = self.backend.copy(X)
        X[gaps] = U[gaps]
        return X


def _corner(sides: tuple[SampledRows, SampledRows]) -> Pair:
    """Places, in both samples, of the rows and columns in which blocks are sought."""
    counts = [len(side.index) for side in sides]
    root = math.isqrt(_BLOCK_CELLS)
    short = min(*counts, root)
    sizes = (min(count, max(root, _BLOCK_CELLS // short)) for count in counts)
    rows, columns = (
        np.linspace(0, count - 1, size).round().astype(np.intp)
        for count, size in zip(counts, sizes, strict=True)
    )
    return rows, columns


def _start(sides: tuple[SampledRows, SampledRows], places: Pair, k: int) -> Pair:
    """Partitions of both samples into `k` clusters (fewer where rows are few), cut to places."""
    rows, columns = (
        compact(side.partition(min(k, max(1, len(side.index) // 3)))[kept])
        for side, kept in zip(sides, places, strict=True)
    )
    return rows, columns
