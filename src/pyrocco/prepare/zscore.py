"""Bringing columns with different units to one scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import StandardScaler

Moments = tuple[NDArray[np.float64], NDArray[np.float64]]


def zscore(X: Any, moments: Moments | None = None) -> Any:
    """Shift and scale every column to mean 0 and standard deviation 1.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data. NaN marks missing cells, which count for nothing and stay missing.
    moments : pair of ndarray, optional
        Means and standard deviations to use instead, such as those of other rows (see
        `column_moments`).

    Returns
    -------
    ndarray
        Of the precision of `X`, which is not changed; dense, since zeros do not stay zeros.
        Constant columns become zero.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import zscore
    >>> zscore(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    dense = X.toarray() if sparse.issparse(X) else X
    scaler = StandardScaler()
    if moments is None:
        return np.asarray(scaler.fit_transform(dense))
    scaler.mean_, scaler.scale_ = moments
    return np.asarray(scaler.transform(dense))


def column_moments(X: Any) -> Moments:
    """Means and standard deviations of the columns; a deviation of zero counts as one.

    Examples
    --------
    >>> import numpy as np
    >>> means, deviations = column_moments(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> means.tolist(), deviations.tolist()
    ([2.0, 5.0], [1.0, 1.0])
    """
    scaler = StandardScaler().fit(X.toarray() if sparse.issparse(X) else X)
    return scaler.mean_, scaler.scale_
