"""COBRA: groups are rows, and columns, that its representation makes equal."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from benchmarks.paper.methods.cobra_settings import SETTINGS
from pyrocco.estimators.cobra import COBRA


def cluster(X, k, seed):
    model = COBRA(**SETTINGS, random_state=seed).fit(X)
    return Found(model.row_labels_, model.column_labels_)


# The held-out cells are drawn at random.
METHOD = TwoSided("cobra", "COBRA", EVERYWHERE, cluster)
