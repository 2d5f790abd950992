"""Default ROCCO without the detection of outlier cells."""

from benchmarks.paper.methods.ablated import fit_without
from benchmarks.paper.methods.base import TEXT, TwoSided


def cluster(X, k, seed):
    return fit_without(X, seed, finds_outliers=False)


METHOD = TwoSided("no_robust", None, TEXT, cluster)
