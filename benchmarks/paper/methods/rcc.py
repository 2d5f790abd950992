"""RCC as published; on mostly-zero data k-means with the silhouette on its representation."""

from benchmarks.paper.methods.base import TEXT, OneSided
from benchmarks.paper.methods.papers_assignment import assign
from pyrocco import RCC
from pyrocco.estimators.checks import is_mostly_zero


def cluster(X, k, seed):
    model = RCC(variant="paper").fit(X)
    return assign(X, model.representation_, seed) if is_mostly_zero(X) else model.labels_


METHOD = OneSided("rcc", "RCC", TEXT, cluster)
