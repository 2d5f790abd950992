"""k-means on the representation of COBRA, number of clusters given."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided, transposed
from benchmarks.paper.methods.cobra_settings import SETTINGS
from pyrocco.assign import SilhouetteKMeans
from pyrocco.estimators.cobra import COBRA


def cluster(X, k, seed):
    U = COBRA(**SETTINGS, random_state=seed).fit(X).representation_
    kmeans = SilhouetteKMeans(seed)
    return Found(kmeans.assign(U, k), kmeans.assign(transposed(U), k))


METHOD = TwoSided("cobra+km", "COBRA+KM", EVERYWHERE, cluster)
