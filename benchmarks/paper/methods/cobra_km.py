"""k-means on the representation of COBRA, with the number of clusters given."""

from benchmarks.paper.methods.base import EVERYWHERE, Found, TwoSided, transposed
from benchmarks.paper.methods.fit_cobra import fit_cobra
from pyrocco import COBRA
from pyrocco.assign import SilhouetteKMeans


def cluster(X, k, seed, device="cpu"):
    model, spared = fit_cobra(COBRA, X, seed, device)
    U, kmeans = model.representation_, SilhouetteKMeans(seed)
    return Found(kmeans.assign(U, k), kmeans.assign(transposed(U), k), spared=spared)


METHOD = TwoSided("cobra+km", "COBRA+KM", EVERYWHERE, cluster, takes_device=True)
