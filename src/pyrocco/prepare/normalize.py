"""Making rows of different depth comparable."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.prepare.stored import check_not_negative


def normalize(X: Any, total: float | None = None) -> Any:
    """Scale every row to the same total, the median of the totals.

    What remains is how a row spreads over the columns: the cells of an experiment are read to
    different depths, and texts have different lengths.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Not negative. Rows are cells, samples or documents. NaN marks missing cells, which
        count for nothing and stay missing.
    total : float, optional
        The total to scale to instead, such as that of other rows (see `usual_total`).

    Returns
    -------
    ndarray or sparse matrix
        Of the kind and the precision of `X`, which is not changed. Rows of zeros stay so.

    Raises
    ------
    ValueError
        A value is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import normalize
    >>> normalize(np.array([[1.0, 1.0], [30.0, 10.0], [2.0, 2.0]]))
    array([[2., 2.],
           [3., 1.],
           [2., 2.]])
    """
    check_not_negative(X, "normalize", "rows with negative values have no total to share")
    totals = _totals(X)
    filled = totals > 0
    if not filled.any():
        return X.copy()
    factors = np.ones_like(totals)
    factors[filled] = (usual_total(X) if total is None else total) / totals[filled]
    factors = factors.astype(X.dtype)
    return sparse.diags_array(factors) @ X if sparse.issparse(X) else X * factors[:, None]


def usual_total(X: Any) -> float:
    """Median of the totals of the rows that are not empty; 0 where all are.

    Examples
    --------
    >>> import numpy as np
    >>> usual_total(np.array([[1.0, 1.0], [30.0, 10.0], [2.0, 2.0], [0.0, 0.0]]))
    4.0
    """
    totals = _totals(X)
    filled = totals[totals > 0]
    return float(np.median(filled)) if len(filled) else 0.0


def _totals(X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Sums of rows over the cells that are not missing."""
    if not sparse.issparse(X):
        return np.asarray(np.nansum(X, axis=1, dtype=np.float64))
    observed = X.copy()
    observed.data = np.nan_to_num(X.data.astype(np.float64))
    return np.asarray(observed.sum(axis=1)).ravel()
