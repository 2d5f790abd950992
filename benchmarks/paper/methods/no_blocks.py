"""Default ROCCO without the search for blocks."""

from benchmarks.paper.methods.ablated import fit_without
from benchmarks.paper.methods.base import TEXT, TwoSided


def cluster(X, k, seed):
    return fit_without(X, seed, blocks=False)


METHOD = TwoSided("no_blocks", None, TEXT, cluster)
