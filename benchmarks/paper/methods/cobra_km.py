"""k-means on the representation of COBRA, number of clusters given."""

import numpy as np

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from benchmarks.paper.methods.fit_cobra import fit_cobra
from benchmarks.paper.methods.papers_assignment import assign


def cluster(X, k, seed):
    U = fit_cobra(X, seed).representation_
    return Found(assign(X, U, seed, k), assign(X, np.ascontiguousarray(U.T), seed, k))


METHOD = TwoSided("cobra+km", "COBRA+KM", EVERYWHERE, cluster)
