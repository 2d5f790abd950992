"""Default ROCCO without the last k-means iterations on unscaled rows."""

from unittest.mock import patch

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco
from pyrocco.assign import CoClusterer


def cluster(X, k, seed):
    with patch.object(CoClusterer, "_improved", lambda _, __, labels, ___: labels):
        return fit_rocco(X, seed)


METHOD = TwoSided("no_settling", None, TEXT, cluster)
