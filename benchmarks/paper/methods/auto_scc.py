"""Spectral co-clustering, K chosen by the silhouette."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from pyrocco import AutoSpectralCoclustering


def cluster(X, k, seed):
    model = AutoSpectralCoclustering(random_state=seed).fit(X)
    return Found(model.row_labels_, model.column_labels_)


METHOD = TwoSided("auto_scc", "autoSCC", EVERYWHERE, cluster)
