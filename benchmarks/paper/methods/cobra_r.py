"""COBRAr: the paper's last step on the representation of COBRA."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from benchmarks.paper.methods.cobra_settings import SETTINGS
from pyrocco.estimators.cobrar import COBRAr


def cluster(X, k, seed):
    model = COBRAr(**SETTINGS, random_state=seed).fit(X)
    return Found(model.row_labels_, model.column_labels_)


METHOD = TwoSided("cobra_r", "COBRAr", EVERYWHERE, cluster, after="cobra")
