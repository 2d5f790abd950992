"""Spectral co-clustering, with the number of clusters given."""

from sklearn.cluster import SpectralCoclustering

from benchmarks.paper.methods.base import EVERYWHERE, TwoSided
from benchmarks.paper.methods.put_aside import fit_filled


def cluster(X, k, seed):
    return fit_filled(SpectralCoclustering(k, random_state=seed), X)


METHOD = TwoSided("scc", "SCC", EVERYWHERE, cluster)
