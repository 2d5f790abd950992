"""The alternatives to blocks: a gradient along rows times one along columns, or a sum of these."""

from __future__ import annotations

import numpy as np

from pyrocco._typing import Floats
from pyrocco.assign.block_model.factors import (
    NOTHING,
    PROGRESS,
    ROUNDS,
    Factor,
    GradientFit,
    Masked,
    Spent,
    masked,
)

# Maximum number of gradients in a sum.
_MOST_GRADIENTS = 10


def fit_gradient(X: Floats, least_noise: float = 0.0) -> GradientFit:
    """Fit X = u v^T + noise, to X or to X minus its mean, whichever has higher evidence.

    u and v have normal priors whose means and variances are estimated. A number for each row
    describes rows along a gradient better than a cluster for each row does; the opposite is
    true for rows of a few kinds. The fit is a variational rank-one matrix factorisation
    (Bishop, "Variational principal components", ICANN 1999). NaN marks missing values.
    `least_noise` is the least share of the variance that is noise.
    """
    return max(map(_fit, masked(X, least_noise)), key=lambda fit: fit.evidence)


def low_rank_evidence(gradient: GradientFit) -> float:
    """Return the highest evidence of a sum of gradients that begins with the given one.

    Each gradient is fitted to what the others leave. Rows of one kind that vary along several
    directions are such a sum; blocks are one too, but clusters describe them with less.
    """
    fit = gradient
    for _ in range(_MOST_GRADIENTS - 1):
        more = _fit(fit.rest, fit.spent)
        if more.evidence <= fit.evidence:
            break
        fit = more
    return fit.evidence


def _fit(data: Masked, before: Spent = NOTHING) -> GradientFit:
    """Fit by mean-field variational inference, from the leading singular vectors."""
    X, n_cells, least = data.X, data.n_cells, data.least
    squares = float((X**2).sum()) + before.spread
    if squares <= least * n_cells or min(X.shape) < 2:
        flat = -0.5 * n_cells * np.log(max(squares / max(n_cells, 1), least)) - before.cost
        return GradientFit(float(flat), data, (X[:, 0] * 0, X[0] * 0), (0.0, 0.0), before)
    left, value, right = data.leading()
    variance = max((squares - value**2) / n_cells, least)
    root = np.sqrt(value)
    u = Factor(left * root, np.full(len(left), variance / value))
    v = Factor(right * root, np.full(len(right), variance / value))
    bound = -np.inf
    for _ in range(ROUNDS):
        u.update(X @ v.mean, data.powers(0, v.squares), variance)
        v.update(X.T @ u.mean, data.powers(1, u.squares), variance)
        power = float(u.squares @ data.powers(0, v.squares))
        residual = squares - 2 * float(u.mean @ X @ v.mean) + power
        variance, likelihood = data.likelihood(residual)
        previous, bound = bound, likelihood - before.cost - u.cost - v.cost
        if abs(bound - previous) < PROGRESS:
            break
    rest = data.less(np.outer(u.mean, v.mean))
    spent = Spent(before.cost + u.cost + v.cost, residual - float((rest.X**2).sum()))
    return GradientFit(float(bound), rest, *_positions(data, u, v, variance), spent)


def _positions(
    data: Masked, u: Factor, v: Factor, variance: float
) -> tuple[tuple[Floats, Floats], tuple[float, float]]:
    """Return the positions of rows and columns along the gradient, and their standard errors."""
    # Rows and columns without any value have power zero.
    along, across = (
        np.maximum(data.powers(axis, other.squares), np.finfo(float).tiny)
        for axis, other in ((0, v), (1, u))
    )
    scores = data.X @ v.mean / along, data.X.T @ u.mean / across
    errors = np.sqrt(variance / np.median(along)), np.sqrt(variance / np.median(across))
    return scores, (float(errors[0]), float(errors[1]))
