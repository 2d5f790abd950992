"""The logarithm that tames counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrocco.prepare.stored import check_not_negative, map_stored


def log1p(X: Any) -> Any:
    """Replace every value x by log(1 + x).

    A gene ten times as frequent then counts as one step more, not as ten times more; zeros stay
    zeros.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Not negative. NaN marks missing cells, which stay missing.

    Returns
    -------
    ndarray or sparse matrix
        Of the kind and the precision of `X`, which is not changed.

    Raises
    ------
    ValueError
        A value is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import log1p
    >>> log1p(np.array([[0.0, np.e - 1]]))
    array([[0., 1.]])
    """
    check_not_negative(X, "log1p", "leave out the logarithm")
    return map_stored(X, np.log1p)
