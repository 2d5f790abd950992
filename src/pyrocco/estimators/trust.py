"""Cells not to be trusted: far from what their neighbours say (Geman and McClure's weights)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

# Width, in standard deviations of the noise, at which trust has fallen to a quarter.
_WIDTH = 4.0
# Beyond this many, a cell is left out of the first fit.
_FIRST_CUT = 3.0
_ROUNDS = 4
_MEDIAN_ROUNDS = 5
# A sparse matrix is distrusted where cells this many times the median hold half its energy.
DOMINANT = 20.0


class Trusted(NamedTuple):
    """The data with distrusted cells drawn to what is expected there, and all weights."""

    X: Any
    weights: Any


def trust_cells(X: NDArray[Any], smooth: Callable[[NDArray[Any]], NDArray[Any]]) -> Trusted:
    """Weigh every cell by its distance from the representation, and learn that anew.

    The weighted least-squares problem is solved by majorisation: each round smooths the
    data with every cell drawn to the last representation as far as it is distrusted.

    Parameters
    ----------
    X : ndarray
        The data; NaN marks missing cells, which stay missing and have no weight (NaN).
    smooth : callable
        Learns the representation of a matrix, graphs and all.

    Returns
    -------
    Trusted

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((30, 20))
    >>> X[3, 4] = 99.0
    >>> trusted = trust_cells(X, lambda Z: np.full_like(Z, Z.mean()))
    >>> bool(trusted.weights[3, 4] < 0.01), bool(np.median(trusted.weights) > 0.9)
    (True, True)
    """
    starts = _additive_fit(X), _ranked_fit(X, smooth)
    expected = min(starts, key=lambda start: _noise(X - start))
    residual = X - expected
    outside = np.abs(residual) > _FIRST_CUT * _noise(residual)
    cleaned = np.where(outside, expected, X)
    for _ in range(_ROUNDS):
        expected = smooth(cleaned)
        residual = X - expected
        weights = _weights(residual)
        cleaned = expected + weights * residual
    return Trusted(cleaned, weights)


def is_dominated(X: Any) -> bool:
    """Whether a few cells of a mostly empty matrix hold half of its energy.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.random(50, 40, 0.1, format="csr", random_state=0)
    >>> wild = X.copy()
    >>> wild.data[0] = 1e4
    >>> is_dominated(X), is_dominated(wild)
    (False, True)
    """
    squares = np.square(filled_cells(X).astype(np.float64))
    if not len(squares):
        return False
    large = squares > DOMINANT**2 * np.median(squares)
    return bool(squares[large].sum() > 0.5 * squares.sum())


def trust_filled_cells(X: Any) -> Trusted:
    """Weigh the filled cells of a mostly empty matrix by their distance from the usual size.

    Empty cells stay empty.

    Examples
    --------
    >>> import numpy as np
    >>> trust_filled_cells(np.array([[0.0, 1.0, 2.0, 1.5, 900.0]])).X.round(1).tolist()
    [[0.0, 1.1, 2.0, 1.5, 1.8]]
    """
    filled = filled_cells(X)
    usual = np.median(np.abs(filled)) * np.sign(filled)
    residual = filled - usual
    found = _weights(residual)
    if sparse.issparse(X):
        cleaned, weights = X.copy(), X.copy()
        cleaned.eliminate_zeros()
        weights.eliminate_zeros()
        cleaned.data, weights.data = usual + found * residual, found
        return Trusted(cleaned, weights)
    cleaned, weights = X.copy(), np.ones_like(X)
    weights[np.isnan(X)] = np.nan
    cleaned[_is_filled(X)] = usual + found * residual
    weights[_is_filled(X)] = found
    return Trusted(cleaned, weights)


def filled_cells(X: Any) -> NDArray[Any]:
    """Cells that are neither zero nor missing.

    Examples
    --------
    >>> import numpy as np
    >>> filled_cells(np.array([[0.0, 2.0, np.nan]])).tolist()
    [2.0]
    """
    values = X.data if sparse.issparse(X) else X
    return np.asarray(values[_is_filled(values)])


def _is_filled(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((values != 0) & ~np.isnan(values))


def _noise(residual: NDArray[Any]) -> float:
    """Standard deviation of the noise that most cells have."""
    return 1.4826 * float(_median(np.abs(residual)))


def _weights(residual: NDArray[Any]) -> NDArray[Any]:
    return cell_trust(residual, _noise(residual))


def cell_trust(residual: NDArray[Any], noise: float) -> NDArray[Any]:
    """Trust in cells, from 0 to 1, by their distance from what is expected of them.

    Examples
    --------
    >>> import numpy as np
    >>> cell_trust(np.array([0.0, 4.0, 400.0]), noise=1.0).round(3).tolist()
    [1.0, 0.25, 0.0]
    """
    width = np.square(_WIDTH * noise)
    if width == 0:
        return np.asarray(np.where(np.isnan(residual), np.nan, residual == 0), residual.dtype)
    return np.asarray(np.square(width / (width + np.square(residual))), dtype=residual.dtype)


def _additive_fit(X: NDArray[Any]) -> NDArray[Any]:
    """A level for every row plus one for every column, by medians (Tukey's median polish).

    Half of it starts from the rows and half from the columns, so that neither side leads.
    """
    from_rows, from_columns = _polish(X), _polish(X.T).T
    return np.asarray(0.5 * (from_rows + from_columns), dtype=X.dtype)


def _ranked_fit(X: NDArray[Any], smooth: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """Smooth the ranks of the cells and look up what cells of such ranks are.

    Ranks know no wild cells, and blocks of cells show in them as in the cells themselves.
    """
    there = ~np.isnan(X)
    ranks = np.full_like(X, np.nan)
    ranks[there] = rankdata(X[there]) / there.sum()
    # As many quantiles as cells: NumPy's own function for quantiles is made for few.
    cells = np.sort(X[there])
    places = np.clip(smooth(ranks), 0, 1) * (len(cells) - 1)
    return np.asarray(np.interp(places, np.arange(len(cells)), cells), dtype=X.dtype)


def _polish(X: NDArray[Any]) -> NDArray[Any]:
    rows = _median(X, axis=1, keepdims=True)
    for _ in range(_MEDIAN_ROUNDS):
        columns = _median(X - rows, axis=0, keepdims=True)
        rows = _median(X - columns, axis=1, keepdims=True)
    return np.asarray(rows + columns)


def _median(values: NDArray[Any], **options: Any) -> Any:
    """Median of what is not missing; NumPy's own for that is several times as slow."""
    return (np.nanmedian if np.isnan(values).any() else np.median)(values, **options)
