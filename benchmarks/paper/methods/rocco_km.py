"""ROCCO with pyrocco's defaults, with the number of row clusters given for both sides."""

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco


def cluster(X, k, seed, **options):
    return fit_rocco(X, seed, n_clusters=k, **options)


METHOD = TwoSided("rocco+km", "ROCCO+KM", TEXT, cluster, takes_missing=True)
