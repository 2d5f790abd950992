"""k-means on the representation of RCC as published, number of clusters given."""

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from benchmarks.paper.methods.papers_assignment import assign
from pyrocco import RCC


def cluster(X, k, seed):
    return assign(X, RCC(variant="paper").fit(X).representation_, seed, k)


METHOD = OneSided("rcc+km", "RCC+KM", EVERYWHERE, cluster)
