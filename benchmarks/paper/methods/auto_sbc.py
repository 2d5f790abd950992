"""Spectral biclustering, K chosen by the silhouette."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided
from pyrocco import AutoSpectralBiclustering


def cluster(X, k, seed):
    model = AutoSpectralBiclustering(random_state=seed).fit(X)
    return Found(model.row_labels_, model.column_labels_)


METHOD = TwoSided("auto_sbc", "autoSBC", EVERYWHERE, cluster)
