"""Drop cells far from an additive fit and put the fit in their place."""

import numpy as np

_ROUNDS = 5
_CUT = 3.0
# Median absolute deviations of Gaussian noise in a standard deviation.
_SCALE = 1.4826


def trim(X):
    """`X` with cells beyond three scaled MADs of the fit replaced by it."""
    fit = additive_fit(X)
    distance = np.abs(X - fit)
    return np.where(distance > _CUT * _SCALE * np.median(distance), fit, X)


def additive_fit(X):
    """A level for every row plus one for every column, by medians in turn."""
    columns = np.zeros((1, X.shape[1]))
    for _ in range(_ROUNDS):
        rows = np.median(X - columns, axis=1, keepdims=True)
        columns = np.median(X - rows, axis=0, keepdims=True)
    return rows + columns
