"""What blocks leave unexplained: whether it is noise, and of what kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.blockmodel.data import Pair, indicator
from pyrocco.backends import matrix_norm

# Residuals below this share of the data are rounding.
_ROUNDING = 1e-4
_FLIPS = 3
# The largest singular value of noise varies by a few per cent from draw to draw.
_WHITE = 1.1
# What a second, wider kind of noise must explain, in nats a cell, to be believed.
_CONTAMINATED = 0.005
_CELLS = 10_000
_ROUNDS = 30


def residuals(X: NDArray[Any], labels: Pair) -> NDArray[np.float64]:
    """Return `X` less the mean of every block; zero where a cell is missing.

    Examples
    --------
    >>> import numpy as np
    >>> residuals(np.array([[1.0, 3.0]]), (np.array([0]), np.array([0, 0]))).tolist()
    [[-1.0, 1.0]]
    """
    rows, columns = indicator(labels[0]), indicator(labels[1])
    there = ~np.isnan(X)
    X = np.where(there, X, 0)
    means = (rows.T @ X @ columns) / np.maximum(rows.T @ there @ columns, 1)
    return np.asarray((X - means[labels[0]][:, labels[1]]) * there)


def is_white(noise: NDArray[np.float64], scale: float) -> bool:
    """Whether a matrix of residuals has no structure left.

    Its largest singular value is compared with those of the same residuals under random
    signs: any structure is lost there, while sizes, and with them outliers and uneven
    noise, stay.

    Parameters
    ----------
    noise : ndarray
        The residuals.
    scale : float
        Frobenius norm of the data; residuals of rounding size are white.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).standard_normal((60, 50))
    >>> ramp = np.outer(np.linspace(-2, 2, 60), np.linspace(-2, 2, 50))
    >>> is_white(noise, 1.0), is_white(noise + ramp, 1.0)
    (True, False)
    """
    if np.linalg.norm(noise) <= _ROUNDING * scale:
        return True
    random = np.random.RandomState(0)
    flipped = [matrix_norm(noise * random.choice([-1.0, 1.0], noise.shape)) for _ in range(_FLIPS)]
    return matrix_norm(noise) <= _WHITE * max(flipped)


def is_contaminated(noise: NDArray[np.float64], scale: float) -> bool:
    """Whether some cells are off by far more than the rest: two widths of noise, not one.

    Parameters
    ----------
    noise : ndarray
        The residuals.
    scale : float
        Frobenius norm of the data; residuals of rounding size are no noise at all.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).standard_normal((60, 50))
    >>> is_contaminated(noise, 1.0), is_contaminated(np.where(noise > 1.5, 5 * noise, noise), 1.0)
    (False, True)
    """
    if np.linalg.norm(noise) <= _ROUNDING * scale:
        return False
    sizes = np.sort(np.abs(noise), axis=None)
    # Cells met exactly, as those of a constant row are, have no noise to tell of.
    sizes = sizes[sizes > _ROUNDING * sizes[-1]]
    squares = sizes[:: max(1, len(sizes) // _CELLS)] ** 2
    gain = _two_widths(squares) - _log_likelihood(squares, squares.mean())
    return bool(gain.mean() > _CONTAMINATED and gain.sum() > 2 * np.log(len(squares)))


def _log_likelihood(squares: NDArray[np.float64], variance: float) -> NDArray[np.float64]:
    return np.asarray(-0.5 * (np.log(variance) + squares / variance))


def _two_widths(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log likelihoods under a mixture of a narrow and a wide normal distribution."""
    least = 1e-9 * squares.mean()
    narrow, wide, share = max(2.2 * np.median(squares), least), 4 * squares.mean(), 0.1
    for _ in range(_ROUNDS):
        inner = np.log1p(-share) + _log_likelihood(squares, narrow)
        outer = np.log(share) + _log_likelihood(squares, wide)
        total = np.logaddexp(inner, outer)
        odds = np.exp(outer - total)
        share = float(np.clip(odds.mean(), 1e-6, 1 - 1e-6))
        wide = max(float(odds @ squares) / max(odds.sum(), 1e-12), least)
        narrow = max(float((1 - odds) @ squares) / max((1 - odds).sum(), 1e-12), least)
    return np.asarray(total)
