"""COBRA: groups are rows, and columns, that its representation makes equal."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from benchmarks.paper.methods.fit_cobra import fit_cobra


def cluster(X, k, seed):
    model = fit_cobra(X, seed)
    return Found(model.row_labels_, model.column_labels_)


# The held-out cells are drawn at random.
METHOD = TwoSided("cobra", "COBRA", EVERYWHERE, cluster)
