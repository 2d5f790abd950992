"""What the values of a matrix are like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Facts", "gather_facts"]

Array = NDArray[Any]

# How closely lengths, totals, means and deviations must agree to be the work of a program.
_CLOSE = 1e-3
_ROUGHLY = 0.05
_SAMPLE_ROWS = 200


@dataclass(frozen=True)
class Facts:
    """Numbers that tell what the values of a matrix are.

    Attributes
    ----------
    n_rows, n_columns, n_missing : int
        Counts.
    density : float
        Share of the cells that hold a number other than zero.
    minimum, maximum, mean : float
        Over the cells that are not missing.
    is_whole : bool
        Whether all of them are whole numbers.
    has_unit_rows : bool
        Whether all rows have length 1, as tf-idf leaves them.
    has_equal_totals : bool
        Whether rows have the same total once a logarithm is undone.
    has_unit_columns : bool
        Whether columns have mean 0 and standard deviation 1.
    skew : float
        Largest value of a column over its mean, for the column in the middle; 1 where there
        are negative values.
    spread : float
        How many times larger the deviation of the widest columns is than that of the
        narrowest, the utmost twentieth on both ends left out.

    Examples
    --------
    >>> facts = gather_facts(np.array([[1.0, 0.0], [np.nan, 3.0]]))
    >>> facts.n_missing, facts.density, facts.maximum, facts.is_whole
    (1, 0.5, 3.0, True)
    """

    n_rows: int
    n_columns: int
    n_missing: int
    density: float
    minimum: float
    maximum: float
    mean: float
    is_whole: bool
    has_unit_rows: bool
    has_equal_totals: bool
    has_unit_columns: bool
    skew: float
    spread: float


def gather_facts(X: Any) -> Facts:
    """Look at all values of a matrix.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data; NaN marks missing cells.

    Returns
    -------
    Facts

    Examples
    --------
    >>> gather_facts(sparse.csr_array(np.eye(4))).has_unit_rows
    True
    """
    values = X.data if sparse.issparse(X) else np.asarray(X)
    n_missing = int(np.isnan(values).sum())
    n_cells = X.shape[0] * X.shape[1]
    has_zero = sparse.issparse(X) and X.nnz < n_cells
    bounds: dict[str, Any] = {"initial": 0.0} if has_zero else {}
    means, deviations, maxima = _columns(X)
    minimum = float(np.fmin.reduce(values, axis=None, **bounds))
    return Facts(
        n_rows=int(X.shape[0]),
        n_columns=int(X.shape[1]),
        n_missing=n_missing,
        density=(int(np.count_nonzero(values)) - n_missing) / n_cells,
        minimum=minimum,
        maximum=float(np.fmax.reduce(values, axis=None, **bounds)),
        mean=float(np.nansum(values, dtype=np.float64) / max(n_cells - n_missing, 1)),
        is_whole=bool(np.all((values == np.floor(values)) | np.isnan(values))),
        has_unit_rows=_is_constant(_row_sums(X, np.square), 1.0),
        has_equal_totals=_is_constant(_row_sums(X, _undo_log)),
        has_unit_columns=_are_scaled(means, deviations),
        skew=_skew(means, maxima) if minimum >= 0 else 1.0,
        spread=_spread(deviations),
    )


def _columns(X: Any) -> tuple[Array, Array, Array]:
    """Means, standard deviations and maxima of columns over the cells that are not missing."""
    if sparse.issparse(X):
        filled = sparse.csr_array(X, copy=True)
        gaps = np.isnan(filled.data)
        counts = X.shape[0] - np.bincount(filled.indices[gaps], minlength=X.shape[1])
        filled.data[gaps] = 0
        sums, squares = filled.sum(axis=0), filled.power(2).sum(axis=0)
        maxima = filled.max(axis=0).toarray().ravel()
    else:
        counts = (~np.isnan(X)).sum(axis=0)
        filled = np.nan_to_num(X)
        sums, squares = filled.sum(axis=0), np.einsum("ij,ij->j", filled, filled)
        maxima = np.fmax.reduce(X, axis=0)
    counts = np.maximum(counts, 1)
    means = np.asarray(sums, dtype=np.float64) / counts
    variances = np.asarray(squares, dtype=np.float64) / counts - means**2
    return means, np.sqrt(np.maximum(variances, 0)), maxima


def _row_sums(X: Any, function: Any) -> Array:
    """Sums of a function over some rows; NaN where a cell is missing."""
    rows = X[:_SAMPLE_ROWS]
    if not sparse.issparse(rows):
        return np.asarray(function(rows).sum(axis=1))
    mapped = sparse.csr_array(rows, copy=True)
    mapped.data = function(mapped.data)
    return np.asarray(mapped.sum(axis=1)).ravel()


def _undo_log(values: Array) -> Array:
    """Counts whose logarithm this would be; beyond any count it is none."""
    return np.expm1(np.where(values < 50, values, np.nan))


def _is_constant(sums: Array, value: float | None = None) -> bool:
    sums = sums[sums != 0]  # rows of zeros have nothing to scale
    if len(sums) < 2:
        return False
    target = np.median(sums) if value is None else value
    return bool(np.all(np.abs(sums - target) < _CLOSE * abs(target)))


def _are_scaled(means: Array, deviations: Array) -> bool:
    varying = deviations > 0
    if not varying.any():
        return False
    centred = np.abs(means[varying]) < _ROUGHLY
    return bool(np.mean(centred & (np.abs(deviations[varying] - 1) < _ROUGHLY)) > 0.9)


def _skew(means: Array, maxima: Array) -> float:
    positive = means > 0
    return float(np.median(maxima[positive] / means[positive])) if positive.any() else 1.0


def _spread(deviations: Array) -> float:
    varying = deviations[deviations > 0]
    if len(varying) < 2:
        return 1.0
    low, high = np.quantile(varying, [0.05, 0.95])
    return float(high / low)
