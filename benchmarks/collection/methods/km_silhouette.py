"""k-means on the data, K from 2 to 15 chosen by the silhouette."""

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from pyrocco import AutoKMeans


def cluster(X, k, seed):
    return AutoKMeans(max_clusters=15, random_state=seed).fit(X).labels_


METHOD = OneSided("km_silhouette", None, EVERYWHERE, cluster)
