"""COBRAr: the paper's last step on the representation of COBRA."""

import numpy as np

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from benchmarks.paper.methods.fit_cobra import fit_cobra
from benchmarks.paper.methods.papers_assignment import assign


def cluster(X, k, seed):
    U = fit_cobra(X, seed).representation_
    return Found(assign(X, U, seed), assign(X, np.ascontiguousarray(U.T), seed))


METHOD = TwoSided("cobra_r", "COBRAr", EVERYWHERE, cluster)
