"""COBRAr: the paper's assignment step on the representation of COBRA."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from benchmarks.paper.methods.fit_cobra import fit_cobra
from pyrocco import COBRAr


def cluster(X, k, seed, device="cpu"):
    model, spared = fit_cobra(COBRAr, X, seed, device)
    return Found(model.row_labels_, model.column_labels_, spared=spared)


METHOD = TwoSided("cobra_r", "COBRAr", EVERYWHERE, cluster, after="cobra", takes_device=True)
