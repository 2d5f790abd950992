"""Noise whose width differs between rows and between columns, as the alternative to even noise.

Where some rows and columns have much more noise than others, blocks under even noise have a
cluster for every few of them. The evidence of the same blocks under uneven noise shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Floats, Mask
from pyrocco.assign.block_model.fit import label_evidence
from pyrocco.assign.block_model.gaussian import (
    block_evidence,
    block_residuals,
    weighted_median,
)
from pyrocco.assign.block_model.products import Pair
from pyrocco.assign.labels import compact, hard_memberships

# Rounds in which the variances of rows and those of columns are fitted, half of the way each time.
_ROUNDS = 20
# Number of values of average variance by which the variance of a row or a column is shrunken.
_PRIOR_VALUES = 1.0
# Rows and columns with less than this share of the usual variance have hardly any noise.
_HARDLY = 0.1


@dataclass(frozen=True)
class NoiseEvidence:
    """Log evidence for the same blocks, under noise of equal and of unequal variance."""

    even: float
    uneven: float


def noise_evidence(X: Floats, labels: Pair) -> NoiseEvidence:
    """Compare even noise with noise that has a factor for every row and for every column.

    Every factor costs half the logarithm of the number of its values, as in the Bayesian
    information criterion. NaN marks missing values. `X` has rows and columns with noise only: see
    `noisy_part`.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(60, 40))
    >>> labels = np.zeros(60, dtype=int), np.zeros(40, dtype=int)
    >>> evidence = noise_evidence(X, labels)
    >>> evidence.uneven > evidence.even
    False
    >>> X *= random.lognormal(size=40)
    >>> evidence = noise_evidence(X, labels)
    >>> evidence.uneven > evidence.even
    True
    """
    values, present = _values(X)
    weights = _weights(np.square(block_residuals(values, present, labels)), present)
    n_rows, n_columns = present.sum(axis=1), present.sum(axis=0)
    cost = 0.5 * float(np.log(np.maximum(np.r_[n_rows, n_columns], 1)).sum())
    even = _evidence(values, present, present, labels)
    return NoiseEvidence(even, _evidence(values, present, weights, labels) - cost)


def noisy_part(X: Floats, labels: Pair) -> tuple[Floats, Pair]:
    """Leave out rows and columns with hardly any noise, and return the labels of the others.

    Rows of zeros and constant rows have none, and say nothing about blocks of too wide noise.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> X[:5] = 3.0
    >>> part, _ = noisy_part(X, (np.zeros(60, dtype=int), np.zeros(40, dtype=int)))
    >>> part.shape
    (55, 40)
    """
    X, labels = _part(X, labels, [_vary(X, axis) for axis in (1, 0)])
    values, present = _values(X)
    squares = np.square(block_residuals(values, present, labels))
    sums = [squares.sum(axis=axis) / np.maximum(present.sum(axis=axis), 1) for axis in (1, 0)]
    return _part(X, labels, [_are_noisy(variances) for variances in sums])


def _part(X: Floats, labels: Pair, kept: Sequence[Mask]) -> tuple[Floats, Pair]:
    """Return some of the rows and columns, and their labels."""
    rows, columns = (compact(side[mask]) for side, mask in zip(labels, kept, strict=True))
    return X[kept[0]][:, kept[1]], (rows, columns)


def _vary(X: Floats, axis: int) -> Mask:
    """Which rows (axis 1) or columns have at least two different values."""
    return np.asarray(np.fmin.reduce(X, axis=axis) < np.fmax.reduce(X, axis=axis))


def _are_noisy(variances: Floats) -> Mask:
    return np.asarray(variances > _HARDLY * np.median(variances))


def _values(X: Floats) -> tuple[Floats, Floats]:
    """Return the values, 0 where they are missing, and 1 where they are present."""
    present = ~np.isnan(X)
    return np.where(present, X, 0.0), present.astype(np.float64)


def _weights(squares: Floats, present: Floats) -> Floats:
    """Return inverse variances of the cells, the geometric mean of which is 1; 0 if missing."""
    squares = squares * (present.sum() / squares.sum())
    rows, columns = np.ones(squares.shape[0]), np.ones(squares.shape[1])
    counts = present.sum(axis=1), present.sum(axis=0)
    for _ in range(_ROUNDS):
        sums = squares @ (1 / columns), (1 / rows) @ squares
        rows, columns = (
            np.sqrt(side * _variances(*pair))
            for side, *pair in zip((rows, columns), sums, counts, strict=True)
        )
    logs = -np.log(np.outer(rows, columns))
    return np.asarray(present * np.exp(logs - (logs * present).sum() / present.sum()))


def _variances(sums: Floats, counts: Floats) -> Floats:
    return np.asarray((sums + _PRIOR_VALUES) / (counts + _PRIOR_VALUES))


def _evidence(values: Floats, present: Floats, weights: Floats, labels: Pair) -> float:
    """Return the log evidence of blocks whose cells have variances in the ratio 1 / `weights`."""
    rows, columns = hard_memberships(labels[0]), hard_memberships(labels[1])
    weighted = weights * values
    sums, sizes = rows.T @ weighted @ columns, rows.T @ weights @ columns + 1e-9
    squares, n_cells = float((weighted * values).sum()), float(present.sum())
    residual = squares - float((sums**2 / sizes).sum())
    variance = max(residual, np.finfo(float).tiny) / n_cells
    background = weighted_median(sums / sizes, sizes)
    blocks = block_evidence(sums - background * sizes, sizes, variance)[0]
    around = float((weights * np.square(values - background)).sum())
    noise = n_cells * (np.log(variance) - 1) + around / variance
    names = label_evidence(rows) + label_evidence(columns)
    return float(blocks - 0.5 * noise + names)
