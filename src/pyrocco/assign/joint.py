"""Assigners of rows and columns: the default `CoClusterer`, and one side after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pyrocco._typing import Array, Dense, DeviceArray, Floats, Labels, Matrix, is_sparse
from pyrocco.assign.block_model import (
    BlockData,
    BlockFit,
    CountData,
    CountFit,
    Data,
    Pair,
    extend_fit,
)
from pyrocco.assign.communities import MOST_FEATURES, community_labels, consensus_labels
from pyrocco.assign.features import (
    N_FEATURES,
    directions,
    leading_features,
    leading_scores,
    unit_rows,
)
from pyrocco.assign.kmeans import FEW_ITERATIONS, SampledRows, lloyd
from pyrocco.assign.labels import (
    Assignment,
    Numbers,
    SideLabels,
    cluster_means,
    compact,
    distance_memberships,
    relabel,
)
from pyrocco.assign.structure import (
    ANSWER_NOISE,
    LEAST_SIDE,
    Structure,
    are_count_blocks,
    detect_count_structure,
    detect_structure,
)
from pyrocco.backends import Backend, ChunkedMatrix, NumpyBackend, is_missing, map_rows
from pyrocco.backends.threads import limit_threads
from pyrocco.cells.preparation import learn_steps
from pyrocco.cells.values import has_missing, to_dense

# Numbers of clusters on each side from which the search for blocks starts: fine and coarse.
_STARTS = (40, 8)
# Maximum number of cells in which blocks are searched, and in which those of counts are checked.
_BLOCK_CELLS = 250_000
_CHECKED_CELLS = 4_000_000
# Number of parts into which the sample is divided to find the nearest cluster of other rows.
_PARTS = 20

Sides = tuple[SampledRows, SampledRows]


@dataclass(frozen=True)
class Counted:
    """What is known of counts and answers beside the prepared matrix.

    Parameters
    ----------
    values : ndarray, CSR matrix, chunked matrix or None
        The counts; None if the cells count nothing.
    columns : array or None
        The matrix from which columns are labelled, on the back end, if it was prepared in
        another way than that for the rows.
    are_answers : bool
        Whether the cells are yes or no, and both are common.
    stops_at_outliers : bool
        Whether no labels are needed if there are outlier cells, because these are moved, and the
        rest is done again.
    """

    values: Matrix | ChunkedMatrix | None = None
    columns: Array | None = None
    are_answers: bool = False
    stops_at_outliers: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether no count is missing."""
        return isinstance(self.values, ChunkedMatrix) or not has_missing(self.values)

    @property
    def least_noise(self) -> float:
        """Least share of the variance that is noise."""
        return ANSWER_NOISE if self.are_answers else 0.0


_NOT_COUNTED = Counted()


class Assigner(Protocol):
    """Labels the rows of a representation; columns are the rows of the transpose."""

    def assign(self, U: Array, n_clusters: int | None) -> Labels:
        """Label the rows of `U` 0..K-1, with K = `n_clusters` if it is given."""


class JointAssigner(Protocol):
    """Labels rows and columns from the data and the representation."""

    def assign(
        self, X: Array, U: Array, numbers: Numbers, counted: Counted = _NOT_COUNTED
    ) -> Assignment:
        """Label rows and columns.

        `X` and `U` are on the back end; `U` is `X` itself if there is no representation.
        """


@dataclass(eq=False)
class EachSide:
    """An `Assigner` applied to the rows of U and to its columns."""

    assigner: Assigner
    backend: Backend

    def assign(
        self, X: Array, U: Array, numbers: Numbers, counted: Counted = _NOT_COUNTED
    ) -> Assignment:
        """Label both sides of `U`."""
        rows = self._side(U, numbers[0])
        return Assignment(rows, self._side(self.backend.transpose(U), numbers[1]))

    def _side(self, U: Array, number: int | None) -> SideLabels:
        labels = relabel(self.assigner.assign(U, number))
        features = leading_features(U, backend=self.backend)
        return SideLabels.from_memberships(labels, distance_memberships(features, labels))


@dataclass(eq=False)
class CoClusterer:
    """Joint labels of rows and columns that depend on the structure of the matrix.

    If the matrix consists of blocks (see `pyrocco.assign.structure`), rows and columns get the
    labels of a block model, whose numbers of clusters are chosen by variational evidence: of
    counts under Poisson noise, or of values under Gaussian noise. Otherwise rows and columns are
    clustered by their leading features, with the numbers of clusters chosen by modularity and by
    the agreement of several clusterings. Samples of large matrices are drawn by the content of
    rows and columns, so that permuting the rows of a matrix permutes its labels.
    """

    blocks: bool = True  # whether to search for blocks; False for data that are mostly zero
    sample_size: int = 1000  # rows, and columns, from which clusters are determined, at most
    random_state: np.random.RandomState = field(default_factory=lambda: np.random.RandomState(0))
    backend: Backend = field(default_factory=NumpyBackend)
    # Whether final labels depend on the length of a row in addition to its direction; False for
    # data that are mostly zero, where the length is that of a text.
    by_length: bool = True

    def assign(
        self, X: Array, U: Array, numbers: Numbers, counted: Counted = _NOT_COUNTED
    ) -> Assignment:
        """Label both sides of the data; missing values are taken from `U`."""
        rows = self._filled(X, U)
        columns = self.backend.transpose(rows if counted.columns is None else counted.columns)
        keys = X if counted.columns is None else counted.columns
        scores = self._scores(rows), self._scores(columns)
        sides = self._sample(X, scores[0], 0), self._sample(keys, scores[1], 1)
        structure = self._structure(X, counted, sides, numbers)
        if structure.contaminated and counted.stops_at_outliers:
            return _unlabelled(X)
        if structure.kind == "blocks" and structure.fit is not None:
            found = self._by_blocks(X, counted, sides, structure.fit, structure.contaminated)
            if self._explain_more((X, keys), counted, sides, found):
                return found
            structure = Structure("features", contaminated=structure.contaminated)
        if structure.kind == "gradient":
            numbers = numbers[0] or 1, numbers[1] or 1
        labels = [
            self._by_features(scores[axis], sides[axis].index, numbers[axis], counted, axis)
            for axis in (0, 1)
        ]
        return Assignment(labels[0], labels[1], structure.kind, structure.contaminated)

    def _scores(self, data: Array) -> Array:
        """Return the leading scores of the rows, as many as any clustering of them uses."""
        scores: Array = leading_scores(data, MOST_FEATURES, self.backend)
        return scores

    def _sample(self, X: Array, scores: Array, axis: int) -> SampledRows:
        """Return the features of all rows, with a sample of the rows."""
        features = unit_rows(map_rows(_leading, scores))
        large = features.shape[0] > self.sample_size
        keys = self.backend.content_keys(X, axis) if large else None
        return SampledRows.draw(features, self.sample_size, self.random_state, keys)

    def _structure(self, X: Array, counted: Counted, sides: Sides, numbers: Numbers) -> Structure:
        if min(len(side.index) for side in sides) < LEAST_SIDE:
            return Structure("features")
        starts = [_start(sides, _submatrix(sides), k) for k in _STARTS]
        structure = Structure("features")
        # Small products are slower in several threads.
        with limit_threads(1):
            if counted.values is not None:
                part = self._dense_part(counted.values, sides)
                structure = detect_count_structure(part, starts, numbers, not self.blocks)
            if self.blocks and structure.kind == "features":
                part = self._dense_part(X, sides)
                stops, least = counted.stops_at_outliers, counted.least_noise
                return detect_structure(part, starts, numbers, least, stops_at_outliers=stops)
        return structure

    def _dense_part(self, X: Any, sides: Sides) -> Floats:
        return self._dense(_part(X, sides))

    def _dense(self, part: Any) -> Floats:
        part = to_dense(part) if is_sparse(part) else self.backend.to_numpy(part)
        return np.ascontiguousarray(part, dtype=np.float64)

    def _by_blocks(
        self,
        X: Array,
        counted: Counted,
        sides: Sides,
        fit: BlockFit,
        contaminated: bool,
    ) -> Assignment:
        places = _submatrix(sides)
        index = sides[0].index[places[0]], sides[1].index[places[1]]
        by_counts = isinstance(fit, CountFit)
        data: Data
        if by_counts:
            data = self._count_data(counted)
        else:
            data = BlockData(X, self.backend, counted.least_noise)
        memberships = extend_fit(data, fit, index)
        rows, columns = (
            SideLabels.from_memberships(side.argmax(axis=1), side) for side in memberships
        )
        return Assignment(rows, columns, "blocks", contaminated, by_counts)

    def _explain_more(
        self, prepared: tuple[Array, Array], counted: Counted, sides: Sides, found: Assignment
    ) -> bool:
        """Whether blocks of counts explain more than the part in which they were searched.

        A few hundred rows and columns of counts that are mostly zero may look like noise, or
        like fewer blocks, although all of them together show more. `prepared` are the matrices
        from which rows and columns are labelled. Matrices with missing counts are not checked.
        """
        if not (found.counted and counted.is_complete):
            return True
        counts: Any = counted.values
        searched = [len(places) for places in _submatrix(sides)]
        for axis in (0, 1):
            rows, columns = self._wider(prepared[1 - axis], sides, axis)
            if len(rows) > searched[0] or len(columns) > searched[1]:
                part = self._dense(counts[rows][:, columns])
                labels = found.row_labels[rows], found.column_labels[columns]
                if not are_count_blocks(part, labels, not self.blocks):
                    return False
        return True

    def _wider(self, X: Array, sides: Sides, axis: int) -> Pair:
        """Return the sample on one axis, and as many as may be checked on the other."""
        index = [side.index for side in sides]
        size = max(_CHECKED_CELLS // len(index[axis]), len(index[1 - axis]))
        index[1 - axis] = np.arange(X.shape[1 - axis])
        if len(index[1 - axis]) > size:
            keys = self.backend.content_keys(X, 1 - axis)
            index[1 - axis] = np.sort(np.argsort(keys, kind="stable")[:size])
        return index[0], index[1]

    def _count_data(self, counted: Counted) -> CountData:
        """Return the counts; a matrix with missing ones stays dense."""
        complete = counted.is_complete
        place = self.backend.operand if complete else self.backend.asarray
        return CountData(place(counted.values), self.backend, complete=complete)

    def _by_features(
        self, scores: Array, index: Labels, number: int | None, counted: Counted, axis: int
    ) -> SideLabels:
        sample = scores[index]
        found = np.zeros(len(index), dtype=np.intp)
        if number != 1:
            found = consensus_labels(sample, self.by_length, self._weighted(counted, index, axis))
        if number not in (None, int(found.max()) + 1):
            found = self._given_number(sample, number)
        places = self._places(scores)
        labels = self._placed(places, index, found)
        return SideLabels.from_memberships(labels, distance_memberships(places, labels))

    def _weighted(self, counted: Counted, index: Labels, axis: int) -> Dense | None:
        """Return the scores of some rows after a second preparation: counts weighted by tf-idf.

        None unless the cells are counts that are mostly zero, such as those of words, and none is
        missing.
        """
        if self.by_length or counted.values is None or not counted.is_complete:
            return None
        weighted = self.backend.operand(learn_steps(counted.values, ["tfidf"], axis == 1)[0])
        scores = self._scores(weighted if axis == 0 else self.backend.transpose(weighted))
        return np.asarray(scores[index])

    def _given_number(self, scores: Dense, number: int) -> Labels:
        """Label the rows of the sample by their scores, with `number` clusters."""
        scores = np.ascontiguousarray(scores[:, :N_FEATURES])
        labels = community_labels(directions(scores), number)
        if not self.by_length:
            return compact(labels)
        # Rows near the mean have no direction.
        return compact(lloyd(scores, cluster_means(scores, labels, number), FEW_ITERATIONS))

    def _places(self, scores: Array) -> Array:
        """Return the leading scores, of length 1 unless the length of a row counts."""
        places: Array = map_rows(_leading, scores)
        return places if self.by_length else unit_rows(places)

    def _placed(self, places: Array, index: Labels, found: Labels) -> Labels:
        """Label all rows; those that are not in the sample as its nearest part.

        A cluster may have any shape. It is divided into parts that are round.
        """
        if not self.by_length:
            # Rows of length 1 cluster around their mean directions.
            centres = cluster_means(places[index], found, int(found.max()) + 1)
            return compact(lloyd(places, centres, backend=self.backend))
        labels = np.empty(places.shape[0], dtype=np.intp)
        if len(labels) > len(index):
            sample = SampledRows.all_of(places[index])
            parts = compact(found * _PARTS + sample.partition(_PARTS))
            names = found[np.unique(parts, return_index=True)[1]]
            centres = cluster_means(sample.sample, parts, len(names))
            labels = names[self.backend.nearest_centres(self.backend.asarray(places), centres)[0]]
        labels[index] = found
        return labels

    def _filled(self, X: Array, U: Array) -> Array:
        """Return the data with missing values taken from the representation."""
        if U is X:
            return X
        if not self.backend.in_one_place:
            return X  # chunked matrices with missing values are refused
        missing: Any = is_missing(X)
        if not missing.any():
            return X
        filled: DeviceArray = self.backend.copy(X)
        filled[missing] = U[missing]
        return filled


def _unlabelled(X: Array) -> Assignment:
    """Return one cluster of all rows and one of all columns of a matrix with outlier cells."""
    rows, columns = (
        SideLabels(np.zeros(size, dtype=np.intp), np.ones(size), np.ones(1)) for size in X.shape
    )
    return Assignment(rows, columns, contaminated=True)


def _leading(scores: Dense) -> Dense:
    return np.ascontiguousarray(scores[:, :N_FEATURES])


def _submatrix(sides: Sides) -> Pair:
    """Choose rows and columns of the samples in which blocks are searched."""
    counts = [len(side.index) for side in sides]
    root = math.isqrt(_BLOCK_CELLS)
    short = min(*counts, root)
    sizes = (min(count, max(root, _BLOCK_CELLS // short)) for count in counts)
    rows, columns = (
        np.linspace(0, count - 1, size).round().astype(np.intp)
        for count, size in zip(counts, sizes, strict=True)
    )
    return rows, columns


def _part(X: Any, sides: Sides) -> Any:
    """Return the rows and columns in which blocks are searched."""
    places = _submatrix(sides)
    rows, columns = (side.index[place] for side, place in zip(sides, places, strict=True))
    return X[rows][:, columns]


def _start(sides: Sides, places: Pair, k: int) -> Pair:
    """Partition both samples into at most `k` clusters; return the labels at `places`."""
    rows, columns = (
        compact(side.partition(min(k, max(1, len(side.index) // 3)))[place])
        for side, place in zip(sides, places, strict=True)
    )
    return rows, columns
