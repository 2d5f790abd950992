"""The structure of a matrix: blocks, one gradient, or rows that cluster by their features.

The structure decides how the number of clusters is determined. Blocks of equal means under
noise have as many clusters as the evidence supports, possibly one. Rows along a single
gradient have no clusters, although every cut through them would score well. In all other
matrices, where the cells of a cluster differ by more than noise, rows are clustered by their
features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Dense, Floats
from pyrocco.assign.block_model import (
    BlockData,
    BlockFit,
    CountData,
    Data,
    Pair,
    best_block_fit,
    fit_gradient,
    fit_levels,
    fitted_labels,
    has_two_values,
    low_rank_evidence,
    noise_evidence,
    noisy_part,
    split_clusters,
    sweep,
)
from pyrocco.assign.labels import Numbers, hard_memberships
from pyrocco.backends import matrix_norm

# With fewer rows or columns, evidence cannot distinguish blocks from chance.
LEAST_SIDE = 6
# Residuals below this share of the data are rounding errors.
_ROUNDING = 1e-4
# Number of random sign flips. The largest singular value of noise varies by a few per cent.
_FLIPS = 3
_WHITE = 1.1
# Least share of noise in the variance of answers, yes or no. Where nearly all cells of a block
# have the same answer, rows with a few others would otherwise become clusters of their own.
ANSWER_NOISE = 0.3
# Gain of evidence, in nats, above which a sum of gradients explains a matrix better than blocks.
_CLEARLY = 20.0
# Ratio of variance and mean above which counts vary more than Poisson noise. It is 1.8 and more
# in real text and gene expression, and below 1 in planted blocks.
_OVERDISPERSED = 1.3
# How often the levels of rows and columns are fitted to the blocks if counts are missing.
_LEVELLINGS = 2
# Minimum gain in log likelihood per cell of a second, wider noise component; maximum number
# of cells and of rounds in its fit.
_CONTAMINATED = 0.005
_CELLS = 10_000
_ROUNDS = 30


@dataclass(frozen=True)
class Structure:
    """The structure of a matrix."""

    kind: str  # "blocks", "gradient" or "features"
    fit: BlockFit | None = None  # the blocks, if the structure is blocks
    contaminated: bool = False  # whether the matrix has outlier cells


def detect_structure(
    X: Dense,
    starts: Sequence[Pair],
    numbers: Numbers,
    least_noise: float = 0.0,
    *,
    stops_at_outliers: bool = False,
) -> Structure:
    """Determine the structure of a matrix of at most a few hundred thousand cells.

    NaN marks missing values. `starts` are partitions of rows and columns, the finest first,
    `numbers` the numbers of clusters where they are given, `least_noise` the least share of the
    variance that is noise. If there are outlier cells, the blocks are not of interest to a caller
    who moves these cells first (`stops_at_outliers`).
    """
    data = BlockData(X, least_noise=least_noise)
    size = float(np.sqrt(data.squares))
    if size == 0:
        return Structure("features")
    finest = sweep(data, starts[0])
    gradient = fit_gradient(X, least_noise)
    rest = data.residuals(finest)
    # Structure that the finest blocks do not explain is not explained by coarser ones either.
    if not is_white(rest, size):
        is_gradient = is_white(gradient.noise, size) and gradient.is_smooth
        is_gradient = is_gradient or _are_levels(X, gradient.evidence, size, least_noise)
        return Structure("gradient" if is_gradient else "features")
    contaminated = is_contaminated(rest, size)
    stops = contaminated and stops_at_outliers
    fit = None if stops else _best_fit(data, [finest, *starts[1:]], numbers)
    if fit is None:
        return Structure("features", contaminated=contaminated)
    noise = data.residuals(fitted_labels(fit))
    # If the given numbers of clusters are too small, outlier cells show in the finest blocks.
    contaminated = contaminated or is_contaminated(noise, size)
    has_clusters = max(map(len, map(np.unique, fitted_labels(fit)))) > 1
    best = max(fit.evidence, gradient.evidence)
    if has_clusters and _are_levels(X, best, size, least_noise):
        return Structure("gradient", contaminated=contaminated)
    if has_clusters and gradient.evidence > fit.evidence:
        kind = "gradient" if gradient.is_smooth else "features"
        return Structure(kind, contaminated=contaminated)
    are_blocks = is_white(noise, size) and not (
        has_clusters and low_rank_evidence(gradient) > fit.evidence + _CLEARLY
    )
    kind = "blocks" if are_blocks else "features"
    # The width of the noise of yes and no is known from their shares.
    is_noisy = not (_is_rounding(noise, size) or has_two_values(X))
    if are_blocks and has_clusters and is_noisy:
        kind, fit = _under_uneven_noise(X, data, fit, numbers)
    return Structure(kind, fit, contaminated)


def _under_uneven_noise(
    X: Dense, data: BlockData, fit: BlockFit, numbers: Numbers
) -> tuple[str, BlockFit]:
    """Return the structure and its blocks after a check that the noise is even.

    If some rows or columns have more noise than others, blocks under even noise are too many: the
    matrix is one block, if that explains it better, and has other structure otherwise.
    """
    noisy, labels = noisy_part(X, fitted_labels(fit))
    found = noise_evidence(noisy, labels)
    if found.even >= found.uneven:
        return "blocks", fit
    whole = _one_cluster(X)
    if not any(numbers) and noise_evidence(noisy, _one_cluster(noisy)).uneven >= found.uneven:
        return "blocks", data.evaluate((hard_memberships(whole[0]), hard_memberships(whole[1])))
    return "features", fit


def _one_cluster(X: Dense) -> Pair:
    """Return labels of a matrix with one cluster of rows and one of columns."""
    return np.zeros(X.shape[0], dtype=np.intp), np.zeros(X.shape[1], dtype=np.intp)


def _are_levels(X: Dense, evidence: float, size: float, least_noise: float) -> bool:
    """Whether nothing but smooth levels of rows and of columns explains a matrix better.

    `evidence` is that of the other explanations, `size` the Frobenius norm of the matrix.
    """
    levels = fit_levels(X, least_noise)
    return levels.evidence > evidence and levels.is_smooth and is_white(levels.noise, size)


def detect_count_structure(
    X: Dense, starts: Sequence[Pair], numbers: Numbers, mostly_zero: bool
) -> Structure:
    """Determine the structure of a matrix of counts of at most a few hundred thousand cells.

    It consists of blocks if blocks, the totals of rows and columns, and Poisson noise explain it.
    Counts that come in bursts, such as those of words, vary more than that. They are one block if
    nothing but their totals differs, unless they are mostly zero: then a few large counts would
    hide all other differences.
    """
    data = CountData(X, complete=not np.isnan(X).any())
    finest = sweep(data, starts[0])
    for _ in range(0 if data.is_complete else _LEVELLINGS):
        data = data.completed(finest)
        finest = sweep(data, finest)
    if data.dispersion(finest) > _OVERDISPERSED:
        whole = _one_cluster(X)
        if mostly_zero or any(numbers) or not is_white(data.overdispersed_residuals(), 0.0):
            return Structure("features")
        everywhere = hard_memberships(whole[0]), hard_memberships(whole[1])
        return Structure("blocks", data.evaluate(everywhere))
    fit = _best_fit(data, [finest, *starts[1:]], numbers)
    if fit is not None and not data.is_complete:
        data = data.completed(fitted_labels(fit))
        fit = _best_fit(data, [fitted_labels(fit)], numbers)
    if fit is None:
        return Structure("features")
    return Structure("blocks" if _is_poisson(data, fitted_labels(fit)) else "features", fit)


def are_count_blocks(X: Dense, labels: Pair, mostly_zero: bool) -> bool:
    """Whether blocks explain millions of counts as `detect_count_structure` asks."""
    data = CountData(X)
    is_whole = not (labels[0].any() or labels[1].any())
    if is_whole and not mostly_zero:
        return is_white(data.overdispersed_residuals(), 0.0, flips=1)
    return _is_poisson(data, labels, flips=1)


def _is_poisson(data: CountData, labels: Pair, flips: int = _FLIPS) -> bool:
    """Whether nothing but Poisson noise is left of counts."""
    is_dispersed = data.dispersion(labels) > _OVERDISPERSED
    return not is_dispersed and is_white(data.residuals(labels), 0.0, flips)


def _best_fit(data: Data, starts: Sequence[Pair], numbers: Numbers) -> BlockFit | None:
    """Return the block model of highest evidence that merges and splits lead to.

    Given numbers of clusters are searched from the starts, and from the best model of all.
    """
    free = _best_merged(data, starts, (None, None))
    if free is not None:
        free = split_clusters(data, free)
    if free is None or not any(numbers):
        return free
    return _best_merged(data, [*starts, fitted_labels(free)], numbers)


def _best_merged(data: Data, starts: Sequence[Pair], numbers: Numbers) -> BlockFit | None:
    fits = [best_block_fit(data, start, numbers) for start in starts]
    return max((fit for fit in fits if fit is not None), key=_evidence, default=None)


def _evidence(fit: BlockFit) -> float:
    return fit.evidence


def is_white(noise: Floats, scale: float, flips: int = _FLIPS) -> bool:
    """Whether a matrix of residuals has no structure left.

    The largest singular value is compared with those of the same residuals with random signs,
    which have no structure but the same absolute values, so that outlier cells and uneven
    noise do not matter. `scale` is the Frobenius norm of the data; rounding errors are white.
    `flips` is the number of random matrices: one is enough for millions of cells.
    """
    if _is_rounding(noise, scale):
        return True
    random = np.random.RandomState(0)
    flipped = [matrix_norm(noise * random.choice([-1.0, 1.0], noise.shape)) for _ in range(flips)]
    return matrix_norm(noise) <= _WHITE * max(flipped)


def _is_rounding(noise: Floats, scale: float) -> bool:
    """Whether residuals are rounding errors; `scale` is the Frobenius norm of the data."""
    return bool(np.linalg.norm(noise) <= _ROUNDING * scale)


def is_contaminated(noise: Floats, scale: float) -> bool:
    """Whether residuals have outlier cells: a second noise component that is much wider.

    `scale` is the Frobenius norm of the data; rounding errors are not noise.
    """
    if _is_rounding(noise, scale):
        return False
    sizes = np.sort(np.abs(noise), axis=None)
    # Cells that are explained exactly, such as those of a constant row, have no noise.
    sizes = sizes[sizes > _ROUNDING * sizes[-1]]
    squares = sizes[:: max(1, len(sizes) // _CELLS)] ** 2
    gain = _two_components(squares) - _log_likelihood(squares, squares.mean())
    return bool(gain.mean() > _CONTAMINATED and gain.sum() > 2 * np.log(len(squares)))


def _log_likelihood(squares: Floats, variance: float) -> Floats:
    return np.asarray(-0.5 * (np.log(variance) + squares / variance))


def _two_components(squares: Floats) -> Floats:
    """Fit a mixture of a narrow and a wide normal distribution; return log likelihoods."""
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
