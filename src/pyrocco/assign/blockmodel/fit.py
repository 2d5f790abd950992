"""Fit a block model: every row and every column in one cluster, every block one mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.base import compact
from pyrocco.assign.blockmodel.data import BlockData, Pair, indicator
from pyrocco.assign.blockmodel.evidence import block_evidence, label_evidence
from pyrocco.assign.odds import probabilities_of

# The noise is never taken to be less than this share of the matrix: blocks without noise.
_LEAST_VARIANCE = 1e-9
# Log evidence, in nats, below which a step is no progress.
_PROGRESS = 0.01


@dataclass(frozen=True)
class BlockFit:
    """Memberships by their probabilities, and what they explain.

    Parameters
    ----------
    evidence : float
        Lower bound of the log evidence of the model.
    members : pair of ndarray
        Probability of every cluster, for the rows and for the columns.
    variance : float
        Variance of the noise.
    background, means : float and ndarray
        What a cell is expected to be: the background plus the mean of its block.
    """

    evidence: float
    members: Pair
    variance: float
    background: float
    means: NDArray[np.float64]

    @property
    def labels(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Most probable clusters; one that is nobody's first choice has no label."""
        rows, columns = (compact(members.argmax(axis=1)) for members in self.members)
        return rows, columns

    def probabilities(
        self, data: BlockData, others: NDArray[np.float64], axis: int
    ) -> NDArray[np.float64]:
        """Memberships of the rows (axis 0) or columns of any matrix with these blocks.

        `others` are the memberships on the other axis, zero where a cell is not to count.
        """
        prior = np.log(np.maximum(self.members[axis].mean(axis=0), 1e-300))
        means = self.means if axis == 0 else self.means.T
        fitted = data.counts(1 - axis, others) @ (self.background * means + 0.5 * means**2).T
        scores = data.product(1 - axis, others) @ (means.T / self.variance)
        scores += prior - fitted / self.variance
        return probabilities_of(scores)


def settle(data: BlockData, labels: Pair, max_sweeps: int = 10) -> Pair:
    """Move every row, then every column, to the cluster that explains it best, until none moves.

    Parameters
    ----------
    data : BlockData
        The matrix.
    labels : pair of ndarray of int
        Where to start, 0..K-1 without gaps.
    max_sweeps : int
        Rounds at most.

    Returns
    -------
    pair of ndarray of int
        A cluster that lost its members is gone.
    """
    sides = list(labels)
    for _ in range(max_sweeps):
        before = tuple(sides)
        for axis in data.order:
            sides[axis] = compact(_scores(data, (sides[0], sides[1]), axis).argmax(axis=1))
        if all(np.array_equal(old, new) for old, new in zip(before, sides, strict=True)):
            break
    return sides[0], sides[1]


def _scores(data: BlockData, labels: Pair, axis: int) -> NDArray[np.float64]:
    """Log likelihood of every row (or column) in every cluster."""
    members = indicator(labels[0]), indicator(labels[1])
    own, other = members[axis], members[1 - axis]
    products, counts = data.product(1 - axis, other), data.counts(1 - axis, other)
    sums = own.T @ products
    sizes = data.sizes(members) if axis == 0 else data.sizes(members).T
    means = sums / np.maximum(sizes, 1)
    variance = _variance(data.squares - float((sums * means).sum()), data)
    prior = np.log(own.mean(axis=0))
    fitted = products @ means.T - 0.5 * counts @ (means**2).T
    return np.asarray(fitted / variance + prior)


def soften(data: BlockData, members: Pair, max_iter: int = 30) -> BlockFit:
    """Turn memberships into probabilities by variational expectation-maximisation.

    Parameters
    ----------
    data : BlockData
        The matrix.
    members : pair of ndarray
        Memberships to start from (see `indicator`).
    max_iter : int
        Rounds at most.

    Returns
    -------
    BlockFit
    """
    state = start = from_dask(data, members)
    for _ in range(max_iter):
        state = _step(data, start)
        if abs(state.evidence - start.evidence) < _PROGRESS:
            break
        start = state
    return state


def from_dask(data: BlockData, members: Pair) -> BlockFit:
    """Weigh the blocks that memberships make, as they are.

    Parameters
    ----------
    data : BlockData
        The matrix.
    members : pair of ndarray
        Memberships (see `indicator`).

    Returns
    -------
    BlockFit
    """
    fit = means_of(data, members)
    return _weighed(data, members, fit.background, fit.variance)


def means_of(data: BlockData, members: Pair) -> BlockFit:
    """Return the blocks that memberships make, without what they would weigh."""
    sums, sizes = _count(data, members)
    means = sums / sizes
    variance = _variance(data.squares - float((sums * means).sum()), data)
    background = _weighted_median(means, sizes)
    values = block_evidence(sums - background * sizes, sizes, variance).values
    return BlockFit(-np.inf, members, variance, background, values)


def _step(data: BlockData, fit: BlockFit) -> BlockFit:
    """One round: memberships of each side given the other, then noise, means and evidence."""
    members, background = moved(data, fit), fit.background
    sums, sizes = _count(data, members)
    sums = sums - background * sizes
    residual = _squares(data, background) - 2 * float((sums * fit.means).sum())
    variance = _variance(residual + float((sizes * fit.means**2).sum()), data)
    return _weighed(data, members, background, variance)


def _weighed(data: BlockData, members: Pair, background: float, variance: float) -> BlockFit:
    sums, sizes = _count(data, members)
    blocks = block_evidence(sums - background * sizes, sizes, variance)
    noise = data.n_cells * (np.log(variance) - 1) + _squares(data, background) / variance
    bound = blocks.evidence - 0.5 * noise + sum(map(label_evidence, members))
    return BlockFit(float(bound), members, variance, background, blocks.values)


def _squares(data: BlockData, background: float) -> float:
    """Sum of squares of all cells less the background."""
    return data.squares - 2 * background * data.total + background**2 * data.n_cells


def moved(data: BlockData, fit: BlockFit) -> Pair:
    """Memberships of each side given the other and the blocks of `fit`."""
    sides = list(fit.members)
    for axis in data.order:
        sides[axis] = fit.probabilities(data, sides[1 - axis], axis)
    return sides[0], sides[1]


def _count(data: BlockData, members: Pair) -> Pair:
    """Sums and sizes of the blocks."""
    return data.sums(members), data.sizes(members) + 1e-9


def _variance(residual: float, data: BlockData) -> float:
    least = _LEAST_VARIANCE * data.squares
    return max(residual, least, np.finfo(float).tiny) / data.n_cells


def _weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    order = values.ravel().argsort()
    heights = weights.ravel()[order].cumsum()
    return float(values.ravel()[order][np.searchsorted(heights, heights[-1] / 2)])
