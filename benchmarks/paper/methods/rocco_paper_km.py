"""ROCCO+KM of the paper: k-means on the literal representation, K given."""

from benchmarks.paper.methods.base import EVERYWHERE, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco


def cluster(X, k, seed, **options):
    return fit_rocco(X, seed, n_clusters=k, variant="paper", **options)


METHOD = TwoSided("rocco_paper+km", "ROCCO+KM", EVERYWHERE, cluster)
