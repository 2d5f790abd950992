"""ROCCO with pyrocco's defaults, numbers of clusters unknown."""

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco


def cluster(X, k, seed, **options):
    return fit_rocco(X, seed, **options)


# Random only in the sample on which K is chosen for large matrices.
METHOD = TwoSided("rocco", "ROCCO", TEXT, cluster, takes_missing=True)
