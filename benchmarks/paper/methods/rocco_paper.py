"""The paper's Algorithm 1 implemented literally, numbers of clusters unknown."""

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco


def cluster(X, k, seed, **options):
    return fit_rocco(X, seed, variant="paper", **options)


# Random only in k-means, the last step for sparse data.
METHOD = TwoSided("rocco_paper", "ROCCO", TEXT, cluster)
