"""Default ROCCO with one clustering by features instead of the consensus of several."""

from unittest.mock import patch

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco
from pyrocco.assign import communities


def cluster(X, k, seed):
    with patch.object(communities, "consensus", lambda partitions: partitions[0]):
        return fit_rocco(X, seed)


METHOD = TwoSided("no_consensus", None, TEXT, cluster)
