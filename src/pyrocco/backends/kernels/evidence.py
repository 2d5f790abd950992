"""Kernels of the evidence for blocks."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel

# Above this, share exp(slab) is all of the sum beside it, to rounding.
_ALL = 40.0
# A product of terms is turned into logs when it leaves this range: the next term is
# between 0.01 and exp(40).
_LARGE, _SMALL = 1e200, 1e-200


@kernel
def mixture_totals(slabs, shares):
    """Sum over blocks of log((1 - share) + share exp(slab)), for every spread and share.

    One exponential a block and spread; logs are taken of products of many blocks.
    """
    totals = np.zeros((slabs.shape[0], shares.shape[0]))
    odds = np.empty(slabs.shape[1])
    for s in range(slabs.shape[0]):
        beyond = 0.0
        for b in range(slabs.shape[1]):
            odds[b] = np.exp(min(slabs[s, b], _ALL))
            beyond += max(slabs[s, b] - _ALL, 0.0)
        for j in range(shares.shape[0]):
            product, logs = 1.0, 0.0
            for b in range(slabs.shape[1]):
                product *= (1.0 - shares[j]) + shares[j] * odds[b]
                if product > _LARGE or product < _SMALL:
                    logs += np.log(product)
                    product = 1.0
            totals[s, j] = beyond + logs + np.log(product)
    return totals
