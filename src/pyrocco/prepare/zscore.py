"""Bringing columns with different units to one scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler


def zscore(X: Any) -> Any:
    """Shift and scale every column to mean 0 and standard deviation 1.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data. NaN marks missing cells, which count for nothing and stay missing.

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
    return np.asarray(StandardScaler().fit_transform(dense))
