"""COBRA: a cluster is a set of rows, or columns, that are equal in the representation."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from benchmarks.paper.methods.fit_cobra import fit_cobra
from pyrocco import COBRA


def cluster(X, k, seed, device="cpu"):
    model, spared = fit_cobra(COBRA, X, seed, device)
    return Found(model.row_labels_, model.column_labels_, spared=spared)


# The held-out cells are drawn at random.
METHOD = TwoSided("cobra", "COBRA", EVERYWHERE, cluster, takes_device=True)
