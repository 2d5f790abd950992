"""Replace outlier cells by an additive fit."""

import numpy as np

_ROUNDS = 5
_CUT = 3.0
# Standard deviation of Gaussian noise in units of its median absolute deviation.
_SCALE = 1.4826


def trim(X):
    """Replace the cells of `X` beyond three scaled MADs of an additive fit by the fit."""
    fit = additive_fit(X)
    distance = np.abs(X - fit)
    return np.where(distance > _CUT * _SCALE * np.median(distance), fit, X)


def additive_fit(X):
    """Fit a level for every row plus a level for every column by alternating medians."""
    columns = np.zeros((1, X.shape[1]))
    for _ in range(_ROUNDS):
        rows = np.median(X - columns, axis=1, keepdims=True)
        columns = np.median(X - rows, axis=0, keepdims=True)
    return rows + columns
