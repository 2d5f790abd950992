"""RCC as published; for mostly-zero data, k-means with the silhouette on its representation.

As in ROCCO, the silhouette has the metric of the graph, which is cosine there.
"""

from benchmarks.paper.methods.base import TEXT, OneSided
from pyrocco import RCC
from pyrocco.assign import SilhouetteKMeans
from pyrocco.cells.values import is_mostly_zero


def cluster(X, k, seed):
    model = RCC(variant="paper").fit(X)
    if is_mostly_zero(X):
        return SilhouetteKMeans(seed, metric="cosine").assign(model.representation_, None)
    return model.labels_


METHOD = OneSided("rcc", "RCC", TEXT, cluster)
