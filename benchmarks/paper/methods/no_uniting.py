"""Default ROCCO without merging clusters that are adjacent in the data."""

from unittest.mock import patch

import numpy as np

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco
from pyrocco.assign import communities


def keep_apart(features, labels, n_clusters, contact):
    return np.arange(n_clusters)


def cluster(X, k, seed):
    with patch.object(communities, "merge_adjacent_clusters", keep_apart):
        return fit_rocco(X, seed)


METHOD = TwoSided("no_uniting", None, TEXT, cluster)
