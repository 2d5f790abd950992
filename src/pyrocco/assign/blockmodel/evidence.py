"""How much the blocks of a matrix tell: Bayesian evidence for their means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logit

from pyrocco.backends.kernels.clusters import mixture_totals

# Prior of a block's mean: with probability `share` drawn around the background with a
# variance of `spread` x that of the noise, else the background itself. Both are set by
# the data, from these values; the widest are for blocks with hardly any noise.
_SPREADS = np.r_[np.geomspace(1e-3, 1e3, 19), 1e5, 1e7, 1e9]
_SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99])


@dataclass(frozen=True)
class Means:
    """Evidence for blocks that differ from the background, and their expected means."""

    evidence: float
    values: NDArray[np.float64]


def block_evidence(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], variance: float
) -> Means:
    """Weigh the means of blocks against a background of zero.

    Few blocks that differ cost little, whatever their number on paper: a share of the
    blocks may equal the background at almost no cost.

    Parameters
    ----------
    sums, sizes : ndarray of shape (n_row_clusters, n_column_clusters)
        Sum of the cells of every block less the background, and their number.
    variance : float
        Variance of the noise.

    Returns
    -------
    Means
        Log evidence against all blocks at the background; posterior means.

    Examples
    --------
    >>> import numpy as np
    >>> strong = block_evidence(np.array([[50.0]]), np.array([[10.0]]), 1.0)
    >>> weak = block_evidence(np.array([[0.1]]), np.array([[10.0]]), 1.0)
    >>> strong.evidence > 100 > 0 > weak.evidence, round(float(strong.values[0, 0]), 1)
    (True, 5.0)
    """
    sizes = np.maximum(sizes, 1e-12)
    precision = _SPREADS[:, None, None] * sizes
    shrinkage = precision / (1 + precision)
    energy = sums**2 / (2 * variance * sizes)
    slab = energy * shrinkage - 0.5 * np.log1p(precision)
    totals = mixture_totals(slab.reshape(len(_SPREADS), -1), _SHARES)
    spread, share = np.unravel_index(int(totals.argmax()), totals.shape)
    # Probability that a block is not at the background.
    trust = expit(slab[spread] + logit(_SHARES[share]))
    values = trust * shrinkage[spread] * sums / sizes
    return Means(float(totals[spread, share]), values)


def label_evidence(members: NDArray[Any]) -> float:
    """Entropy and log probability of memberships, the names of their clusters forgotten.

    All divisions of the rows among so many clusters are equally likely beforehand. Clusters
    that are nobody's first choice have no name to forget: others could change places with
    them and nothing would change.

    Parameters
    ----------
    members : ndarray of shape (n_rows, n_clusters)
        Probability of every cluster.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> one, two = np.ones((8, 1)), np.repeat(np.eye(2), 4, axis=0)
    >>> round(label_evidence(one), 6) == 0, label_evidence(two) < -5
    (True, True)
    """
    (n, k), sizes = members.shape, members.sum(axis=0)
    entropy = -float((members * np.log(np.maximum(members, 1e-300))).sum())
    divisions = gammaln(n + k) - gammaln(n + 1) - gammaln(k)
    arrangements = gammaln(n + 1) - gammaln(sizes + 1).sum()
    names = gammaln(n_chosen(members) + 1)
    return float(entropy - divisions - arrangements + names)


def n_chosen(members: NDArray[Any]) -> int:
    """Number of clusters that are somebody's first choice.

    Examples
    --------
    >>> import numpy as np
    >>> n_chosen(np.array([[0.6, 0.4], [0.7, 0.3]]))
    1
    """
    return int(np.count_nonzero(np.bincount(members.argmax(axis=1))))
