"""Evidence for blocks as it is defined, slow on purpose: integrals, all labellings, all pairs."""

from itertools import combinations, product

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp


def block_log_evidence(total, size, variance, spread, share):
    """Log of the integral over a block's mean, against a mean of zero."""
    width = np.sqrt(spread * variance)
    peak = total / (size + 1 / spread)
    around = np.sqrt(variance / (size + 1 / spread))

    def density(mean):
        prior = np.exp(-0.5 * (mean / width) ** 2) / (width * np.sqrt(2 * np.pi))
        return prior * np.exp((mean * total - 0.5 * size * mean**2) / variance)

    slab, _ = quad(density, peak - 12 * around, peak + 12 * around, epsabs=0, epsrel=1e-10)
    return np.log((1 - share) + share * slab)


def labelling_log_prior(labels, k):
    """All divisions of the rows are equally likely, and all labellings of a division."""
    n, sizes = len(labels), np.bincount(labels, minlength=k)
    n_divisions = gammaln(n + k) - gammaln(n + 1) - gammaln(k)
    return -n_divisions - (gammaln(n + 1) - gammaln(sizes + 1).sum())


def log_marginal_likelihood(X, shape, variance, background, spread, share):
    """Sum over all labellings of rows and columns; every block's mean integrated out."""
    centred, terms = X - background, []
    noise = -0.5 * (X.size * np.log(2 * np.pi * variance) + np.sum(centred**2) / variance)
    for rows in product(range(shape[0]), repeat=X.shape[0]):
        for columns in product(range(shape[1]), repeat=X.shape[1]):
            r, c = np.array(rows), np.array(columns)
            term = labelling_log_prior(r, shape[0]) + labelling_log_prior(c, shape[1])
            for i, j in product(range(shape[0]), range(shape[1])):
                block = centred[np.ix_(r == i, c == j)]
                term += spike_and_slab(block.sum(), block.size, variance, spread, share)
            terms.append(term)
    return noise + logsumexp(terms)


def spike_and_slab(total, size, variance, spread, share):
    """`block_log_evidence` by completing the square; the tests compare the two."""
    precision = size * spread
    slab = 0.0
    if size:
        slab = total**2 / (2 * variance * size) * precision / (1 + precision)
    slab -= 0.5 * np.log1p(precision)
    return np.logaddexp(np.log1p(-share), np.log(share) + slab)


def description_length(X, labels, axis):
    """Nats for the noise, for the labels of one side, and for the means of all blocks."""
    rows, columns = labels
    squares, sizes = 0.0, []
    for i, j in product(np.unique(rows), np.unique(columns)):
        block = X[np.ix_(rows == i, columns == j)]
        squares += np.sum((block - block.mean()) ** 2)
        sizes.append(block.size)
    counts = np.bincount(labels[axis])
    names = -np.sum(counts * np.log(counts / counts.sum()))
    return 0.5 * X.size * np.log(squares) + names + 0.5 * np.log(sizes).sum()


def merge_costs(X, labels):
    """Rise in description length by every merge of two clusters of one side."""
    costs = {}
    for axis in (0, 1):
        before = description_length(X, labels, axis)
        for kept, gone in combinations(range(labels[axis].max() + 1), 2):
            after = list(labels)
            merged = np.where(labels[axis] == gone, kept, labels[axis])
            after[axis] = np.unique(merged, return_inverse=True)[1]
            costs[axis, kept, gone] = description_length(X, after, axis) - before
    return costs
