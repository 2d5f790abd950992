"""Isolated outlier cells: a few cells far from what similar rows and similar columns suggest.

They are found before the first fit, because a single cell can change the scale of the data, the
graphs and the number of clusters. If outlier cells are frequent, the fit finds them itself: see
`outliers.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco._typing import (
    Dense,
    Floats,
    Labels,
    Mask,
    Matrix,
    is_sparse,
    stored_values,
    with_stored_values,
)
from pyrocco.backends.threads import in_threads
from pyrocco.cells.values import (
    SMALLEST,
    are_between,
    are_whole,
    in_safe_range,
    is_mostly_zero,
    room_for_sums,
    to_dense,
)
from pyrocco.fitting.outliers import WeightedCells

# With fewer values, a row or a column does not tell what is usual in it.
LEAST_SIDE = 10
# Largest share of isolated cells among all, and in one row or column.
_FEW = 0.025
_FEW_IN_LINE = 0.25
# This quantile of the distances from the expected values is the scale of a row or a column.
_SCALE_QUANTILE = 2 / 3
# Isolated cells are at least this many scales away, and this many times as far as the others.
_FAR = 5.0
_GAP = 1.5
# How much wider the gap must be than usual distances between sorted values: for tails like those
# of a normal distribution (shape 0.5), and at most for heavier tails.
_STEEP, _STEEPEST = 10.0, 20.0
_LIGHT_TAIL = 0.8
# Number of values from which the tail is estimated, and their least share.
_TAIL, _TAIL_SHARE = 30, 500
# Neighbours whose median is the expected value, and the number of rows or
# columns among which they are searched.
_NEIGHBORS = 7
_REFERENCES = 300
# Exchanges of the smaller and the larger of two values that bring the median of seven to place 3
# (Devillard, "Fast median search: an ANSI C implementation", 1998).
_EXCHANGES = (
    (0, 5), (0, 3), (1, 6), (2, 4), (0, 1), (3, 5), (2, 6), (2, 3), (3, 6), (4, 5), (1, 4), (1, 3),
    (3, 4),
)  # fmt: skip
# In larger matrices, where no cell of moderate size matters, only levels are compared.
_MOST_CELLS = 4_000_000
# Values processed at once, and the largest score.
_VALUES_AT_ONCE = 1 << 17
# With fewer values, starting threads takes longer than it saves.
_THREADED_VALUES = 1 << 23
_LARGEST = 1e300
# Sizes of values, in usual sizes, are cut here, so that products of their sums are finite.
_LARGEST_SIZE = 1e100


def find_isolated_cells(X: Matrix) -> WeightedCells | None:
    """Find the few cells that are far from the rest of their row and of their column.

    There are none among yes and no. Of a mostly-zero matrix, cells that are far too large are
    found; of counts, those too if there are no others.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The data. Missing values (NaN) stay missing, and their weight is NaN.

    Returns
    -------
    WeightedCells or None
        The data with isolated cells moved to their expected values, and the weights of all cells,
        or of the nonzero cells if `X` is sparse and mostly zero: 0 if isolated, else 1. Whole
        numbers stay whole. None if there are no isolated cells.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 20))
    >>> find_isolated_cells(X) is None
    True
    >>> X[3, 4] = 1e8
    >>> cells = find_isolated_cells(X)
    >>> np.argwhere(cells.weights == 0).tolist(), bool(abs(cells.X[3, 4]) < 2)
    ([[3, 4]], True)
    """
    values = stored_values(X)
    whole = are_whole(X)
    if min(X.shape) < LEAST_SIDE or (whole and are_between(values, 0, 1)):
        return None
    if is_mostly_zero(X):
        return find_large_cells(X)
    X = to_dense(X)
    cells = find_far_cells(X)
    if not whole:
        return cells
    if cells is None:
        is_searched = X.size <= _MOST_CELLS and are_between(X, 0, np.inf)
        return find_large_cells(X) if is_searched else None
    return cells._replace(X=np.rint(cells.X))


def find_large_cells(X: Matrix) -> WeightedCells | None:
    """Find the few cells that are far larger than the totals of their row and column suggest.

    The expected size of a nonzero cell is proportional to both totals without the cell itself,
    and at least that of a usual nonzero cell. The only nonzero cell of its row or of its column
    is not searched.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The data. Missing values (NaN) stay missing, and their weight is NaN.

    Returns
    -------
    WeightedCells or None
        As from `find_isolated_cells`.

    Examples
    --------
    >>> X = sparse.csr_array(sparse.random(60, 50, 0.2, random_state=0))
    >>> find_large_cells(X) is None
    True
    >>> X.data[0] = 1e8
    >>> cells = find_large_cells(X)
    >>> np.flatnonzero(cells.weights.data == 0).tolist(), bool(cells.X.data[0] < 1)
    ([0], True)
    """
    where, values = _nonzero_cells(X)
    if not len(values):
        return None
    usual = float(np.median(np.abs(values)))
    with np.errstate(over="ignore"):
        sizes = np.minimum(np.abs(values.astype(np.float64)) / usual, _LARGEST_SIZE)
    compared = np.where(_are_alone(where, X.shape), 0, sizes)
    expected = np.maximum(_proportional(sizes, where, X.shape), 1)
    # Every nonzero cell is a row of its own.
    scores = _Scores(compared[:, None], expected, np.zeros(1))
    flat = np.ravel_multi_index(where, X.shape)
    cells = _without_blocks(flat[_outstanding(scores, len(sizes))], X.shape)
    if not len(cells):
        return None
    found = np.isin(flat, cells)
    sizes[found] = 0
    expected = np.sign(values) * _proportional(sizes, where, X.shape) * usual
    moved = np.where(found, np.rint(expected) if are_whole(X) else expected, values)
    weights = (~found).astype(X.dtype)
    return WeightedCells(_with_cells(X, where, moved), _with_cells(X, where, weights, rest=1))


def _nonzero_cells(X: Matrix) -> tuple[tuple[Labels, Labels], Dense]:
    """Return rows, columns and values of the cells that are neither zero nor missing."""
    if not is_sparse(X):
        where = np.nonzero(np.nan_to_num(X))
        return (where[0], where[1]), X[where]
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    filled = (X.data != 0) & ~np.isnan(X.data)
    return (rows[filled], X.indices[filled]), X.data[filled]


def _with_cells(
    X: Matrix, where: tuple[Labels, Labels], values: Dense, rest: float | None = None
) -> Matrix:
    """Return a matrix like `X` with other nonzero values; other cells keep theirs, or `rest`.

    Missing values stay missing.
    """
    stored = stored_values(X)
    changed = stored.copy()
    if rest is not None:
        changed[~np.isnan(stored)] = rest
    if is_sparse(X):
        changed[(stored != 0) & ~np.isnan(stored)] = values
        return with_stored_values(X, changed)
    changed[where] = values
    return changed


def _are_alone(where: tuple[Labels, Labels], shape: tuple[int, ...]) -> Mask:
    """Which nonzero cells are the only ones of their row or of their column."""
    rows, columns = (
        np.bincount(side, minlength=length)[side] == 1
        for side, length in zip(where, shape, strict=True)
    )
    return np.asarray(rows | columns)


def _proportional(sizes: Floats, where: tuple[Labels, Labels], shape: tuple[int, ...]) -> Floats:
    """Sizes that are proportional to the totals of their row and column, both without them."""
    rows, columns = (
        np.maximum(np.bincount(side, sizes, length)[side] - sizes, 0)
        for side, length in zip(where, shape, strict=True)
    )
    rest = np.maximum(sizes.sum() - sizes - rows - columns, 0)
    sizes = np.divide(rows * columns, rest, out=np.zeros_like(rows), where=rest > 0)
    return np.asarray(sizes)


def find_far_cells(X: Dense) -> WeightedCells | None:
    """Find the few cells of a matrix that is not mostly zero, far from similar cells.

    The first search compares each cell with the median of its row and of its column. The second
    one compares it with the cells of its column in similar rows, and with the cells of its row in
    similar columns, and so finds cells that are unusual only in their block. Cells that form a
    block are not isolated, nor are those of a whole row or column.

    Parameters
    ----------
    X : ndarray
        The data. Missing values (NaN) stay missing, and their weight is NaN.

    Returns
    -------
    WeightedCells or None
        The data with isolated cells moved to their expected values, and the weights of all cells:
        0 if isolated, else 1. None if there are no isolated cells.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 20))
    >>> X[3, 4] = 1e8
    >>> np.argwhere(find_far_cells(X).weights == 0).tolist()
    [[3, 4]]
    """
    room = room_for_sums(X, 2)
    values = np.ldexp(X, -room) if room else X
    levels = _medians(values)[:, None], _medians(values.T)[None]
    first = _isolated(values, *levels)
    compares_neighbors = X.size <= _MOST_CELLS
    if not compares_neighbors and not first.any():
        return None
    rest = _with_nan(values, first)
    expected = levels
    if compares_neighbors:
        filled = np.where(np.isnan(rest), 0.5 * (levels[0] + levels[1]), rest)
        expected = _neighbor_medians(filled), _neighbor_medians(filled.T).T
    found = first | _isolated(rest, *expected)
    if not found.any():
        return None
    means = np.ldexp(_between(_with_nan(values, found), *expected), room)
    weights = np.where(np.isnan(X), np.nan, ~found).astype(X.dtype)
    return WeightedCells(np.where(found, means, X).astype(X.dtype), weights)


def _isolated(X: Dense, by_rows: Dense, by_columns: Dense) -> Mask:
    """Which cells are far from both expected values, and do not form blocks."""
    found = _outstanding(_scores(X, by_rows, by_columns), int(np.count_nonzero(~np.isnan(X))))
    isolated = np.zeros(X.shape, dtype=bool)
    isolated.ravel()[_without_blocks(found, X.shape)] = True
    return isolated


@dataclass(frozen=True)
class _Scores:
    """Distance of each cell from the nearer expected value, by the scales of its row and column.

    They are computed for some rows at a time: together they would take more memory than the
    matrix. Zero for missing values, and in rows and columns with few values.
    """

    distances: Dense
    rows: Floats
    columns: Floats

    def of(self, part: slice | Labels) -> Floats:
        """Return the scores of the cells of some rows."""
        scales = np.maximum(self.rows[part, None], self.columns)
        with np.errstate(over="ignore"):
            scores = self.distances[part].astype(np.float64) / scales
        np.fmax(scores, 0, out=scores)  # NaN becomes zero
        return np.minimum(scores, _LARGEST, out=scores)

    def above(self, limit: float) -> tuple[Labels, Floats]:
        """Return the flat positions and the scores of the cells with at least this score."""
        n_columns = len(self.columns)

        def above(part: slice) -> tuple[Labels, Floats]:
            scores = self.of(part).ravel()
            places = np.flatnonzero(scores >= limit)
            return places + part.start * n_columns, scores[places]

        places, scores = zip(*_of_slices(above, self.distances.shape), strict=True)
        return np.concatenate(places), np.concatenate(scores)


def _scores(X: Dense, by_rows: Dense, by_columns: Dense) -> _Scores:
    """Return the distance of each cell from the nearer expected value, and the scales."""
    distances = _distances(X, by_rows, by_columns)
    rounding = 64 * float(np.finfo(X.dtype).eps) * float(np.abs(by_rows).max())
    rows, columns = _scales(distances), _scales(distances.T)
    smallest = min(float(rows.min()), float(columns.min()))
    if smallest <= rounding:
        positive = distances[distances > rounding].astype(np.float64)
        if not len(positive):
            return _Scores(np.zeros_like(distances), np.ones_like(rows), np.ones_like(columns))
        usual = float(np.median(positive))
        rows, columns = (np.where(side <= rounding, usual, side) for side in (rows, columns))
    return _Scores(distances, rows, columns)


def _between(X: Dense, by_rows: Dense, by_columns: Dense) -> Dense:
    """Mean of two expected values, weighted by how near they are to the other cells.

    If columns have different units, the level of a row says nothing about its cells.
    """
    errors = []
    for expected in (by_rows, by_columns):
        distances = np.abs(X - expected).astype(np.float64)
        # Where there are too few values to tell, both count alike.
        rows, columns = (
            np.where(np.isfinite(side), side, 1)
            for side in (_scales(distances), _scales(distances.T))
        )
        errors.append(np.sqrt(rows)[:, None] * np.sqrt(columns))
    variances = [np.square(error / max(np.max(errors), SMALLEST)) for error in errors]
    total = variances[0] + variances[1]
    part = np.divide(variances[1], total, out=np.full(X.shape, 0.5), where=total > 0)
    return np.asarray(part * by_rows + (1 - part) * by_columns, dtype=X.dtype)


def _distances(X: Dense, by_rows: Dense, by_columns: Dense) -> Dense:
    """Distance of each cell from the nearer expected value."""
    distances = np.empty_like(X)

    def write(part: slice) -> None:
        own = np.subtract(X[part], _of_rows(by_rows, part), out=distances[part])
        others = X[part] - _of_rows(by_columns, part)
        np.minimum(np.abs(own, out=own), np.abs(others, out=others), out=own)

    _of_slices(write, X.shape)
    return distances


def _of_rows(expected: Dense, part: slice) -> Dense:
    """Return the expected values of some rows; a single row is that of all of them."""
    return expected if len(expected) == 1 else expected[part]


def _scales(distances: Dense) -> Floats:
    """Scale of every row; infinite if most of its values are missing."""
    return _quantiles(distances, _SCALE_QUANTILE, LEAST_SIDE, np.inf)


def _outstanding(scores: _Scores, n_cells: int) -> Labels:
    """Return the flat positions of the cells beyond the last wide gap of the sorted scores.

    In a tail like exp(-x^(1/shape)), the differences between logarithms of sorted values, times
    their number and log(n / number), are exponential variables with mean `shape`. A gap is wide if
    its variable is many times as large as the mean of those that follow.
    """
    most, tail = int(_FEW * n_cells), max(_TAIL, n_cells // _TAIL_SHARE)
    if n_cells < most + tail + 1:
        return np.empty(0, dtype=np.intp)
    places, values = _highest(scores, most, tail)
    logs = np.log(np.maximum(values, 1 / _LARGEST))
    numbers = np.arange(1, len(logs))
    gaps = logs[:-1] - logs[1:]
    variables = numbers * gaps * np.log(n_cells / numbers)
    sums = np.cumsum(variables)
    shape = np.maximum((sums[tail:] - sums[:-tail]) / tail, 1e-6)
    needed = np.clip(_STEEP * shape / _LIGHT_TAIL, _STEEP, _STEEPEST) * shape
    first = slice(len(shape))
    wide = (variables[first] >= needed) & (gaps[first] >= math.log(_GAP))
    wide &= logs[first] >= math.log(_FAR)
    return places[: numbers[first][wide].max(initial=0)]


def _highest(scores: _Scores, most: int, tail: int) -> tuple[Labels, Floats]:
    """Return positions and values of the far scores, at most `most`, and of the next `tail` + 1.

    The highest come first. A limit that leaves out most of the others is taken from some rows.
    """
    n_rows, n_columns = scores.distances.shape
    n_drawn = min(n_rows, max(1, _VALUES_AT_ONCE // n_columns))
    drawn = scores.of(np.linspace(0, n_rows - 1, n_drawn).astype(np.intp))
    share = 2 * (tail + 1) / (n_rows * n_columns)
    while True:
        limit = min(_FAR, float(np.quantile(drawn, 1 - share))) if share < 1 else 0.0
        places, values = scores.above(limit)
        n_far = min(most, int(np.count_nonzero(values >= _FAR)))
        count = n_far + tail + 1
        if not n_far or len(values) >= count or not limit:
            break
        share *= 4
    if not n_far:
        return places[:0], values[:0]
    top = np.argpartition(values, -count)[-count:]
    top = top[np.argsort(-values[top], kind="stable")]
    return places[top], values[top]


def _without_blocks(cells: Labels, shape: tuple[int, ...]) -> Labels:
    """Leave out cells that are corners of rectangles of such cells, and those of whole lines.

    `cells` are flat positions. Nothing is left if every row or every column has exactly one of
    them, as on a diagonal.
    """
    rows, columns = np.unravel_index(cells, shape)
    marks = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    in_rows, in_columns = marks.sum(axis=1), marks.sum(axis=0)
    if (in_rows == 1).all() or (in_columns == 1).all():
        return cells[:0]
    paths = (marks @ marks.T @ marks).tocsr()
    through = np.asarray(paths[rows, columns]).ravel()
    rectangles = through - in_rows[rows] - in_columns[columns] + 1
    few = in_rows[rows] <= _FEW_IN_LINE * shape[1]
    few &= in_columns[columns] <= _FEW_IN_LINE * shape[0]
    return np.asarray(cells[few & (rectangles < 1)])


def _neighbor_medians(X: Dense) -> Dense:
    """Return, for every row, the median of the rows nearest to it, without itself."""
    X = np.ascontiguousarray(X)
    n_rows, n_columns = X.shape
    references = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _REFERENCES)).astype(np.intp))
    scaled = in_safe_range(X)[0]
    # Distances do not change, but their rounding errors become smaller.
    scaled = scaled - scaled.mean(axis=0)
    among = scaled[references]
    squares = np.einsum("ij,ij->i", among, among)
    medians = np.empty_like(X)
    for part in _slices(n_rows, max(len(references), _NEIGHBORS * n_columns)):
        distances = squares - 2 * scaled[part] @ among.T
        itself = np.arange(n_rows)[part, None] == references
        distances[itself] = np.inf
        nearest = np.argpartition(distances, _NEIGHBORS - 1, axis=1)[:, :_NEIGHBORS]
        medians[part] = _median_of_seven([X[references[place]] for place in nearest.T])
    return medians


def _median_of_seven(values: list[Dense]) -> Dense:
    """Return the median of seven arrays, which are changed: much faster than sorting."""
    for low, high in _EXCHANGES:
        smaller = np.minimum(values[low], values[high])
        np.maximum(values[low], values[high], out=values[high])
        values[low] = smaller
    return values[3]


def _with_nan(X: Dense, cells: Mask) -> Dense:
    return np.where(cells, np.nan, X).astype(X.dtype) if cells.any() else X


def _medians(X: Dense) -> Dense:
    return _quantiles(X, 0.5, 1, 0.0).astype(X.dtype)


def _quantiles(X: Dense, q: float, least: int, instead: float) -> Floats:
    """Quantile of the values of every row that are not missing; np.nanquantile is slow.

    Rows with fewer than `least` values get the number `instead`.
    """

    def quantiles(part: slice) -> Floats:
        values = np.sort(X[part], axis=1)
        # Missing values are last.
        counts = np.full(len(values), values.shape[1])
        if np.isnan(values[:, -1]).any():
            counts -= np.count_nonzero(np.isnan(values), axis=1)
        places = q * np.maximum(counts - 1, 0)
        below, above = np.floor(places).astype(np.intp), np.ceil(places).astype(np.intp)
        rows = np.arange(len(values))
        lower, upper = (values[rows, place].astype(np.float64) for place in (below, above))
        return np.where(counts < least, instead, lower + (places - below) * (upper - lower))

    return np.concatenate(_of_slices(quantiles, X.shape))


def _of_slices(work: Callable[[slice], Any], shape: tuple[int, ...]) -> list[Any]:
    """Do some work on slices of rows, in threads if the matrix is large."""
    slices = list(_slices(*shape))
    if shape[0] * shape[1] < _THREADED_VALUES:
        return [work(part) for part in slices]
    return in_threads(work, slices)


def _slices(n_rows: int, row_values: int) -> Iterator[slice]:
    step = max(1, _VALUES_AT_ONCE // row_values)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
