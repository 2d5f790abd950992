"""k-means on the data, K chosen by the silhouette."""

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from pyrocco import AutoKMeans


def cluster(X, k, seed):
    return AutoKMeans(random_state=seed).fit(X).labels_


METHOD = OneSided("auto_km", "autoKM", EVERYWHERE, cluster)
