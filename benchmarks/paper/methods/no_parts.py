"""Default ROCCO without the second search for clusters inside each cluster."""

from unittest.mock import patch

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco
from pyrocco.assign import communities


def cluster(X, k, seed):
    with patch.object(communities, "_DEEPEST", 0):
        return fit_rocco(X, seed)


METHOD = TwoSided("no_parts", None, TEXT, cluster)
