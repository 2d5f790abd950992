"""Default ROCCO without the neighbours among leading features."""

from benchmarks.paper.methods.ablated import fit_without
from benchmarks.paper.methods.base import TEXT, TwoSided


def cluster(X, k, seed):
    return fit_without(X, seed, feature_graphs=False)


METHOD = TwoSided("no_feature_graphs", None, TEXT, cluster)
