"""k-means on the representation of RCC as published, with the number of clusters given."""

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from pyrocco import RCC
from pyrocco.assign import SilhouetteKMeans


def cluster(X, k, seed):
    U = RCC(variant="paper").fit(X).representation_
    return SilhouetteKMeans(seed).assign(U, k)


METHOD = OneSided("rcc+km", "RCC+KM", EVERYWHERE, cluster)
