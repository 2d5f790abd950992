"""Spectral biclustering, with the number of clusters given."""

from sklearn.cluster import SpectralBiclustering

from benchmarks.paper.methods.base import EVERYWHERE, TwoSided
from benchmarks.paper.methods.put_aside import fit_filled


def cluster(X, k, seed):
    return fit_filled(SpectralBiclustering(k, random_state=seed), X)


METHOD = TwoSided("sbc", "SBC", EVERYWHERE, cluster)
