"""Leiden communities of the 15-nearest-neighbour graph of 50 principal components.

The partition is scanpy's default (RB configuration, resolution 1); edges have weight 1.
"""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from benchmarks.paper.methods.leiden import communities
from pyrocco.prepare import prepare

N_COMPONENTS, N_NEIGHBORS = 50, 15
# Positive values up to more than this are intensities on a linear scale.
LARGE = 100
STEPS = {"cells": ["normalize", "log1p"], "genes": ["zscore"], "text": ["tfidf"]}


def cluster(X, k, seed):
    n_components = min(N_COMPONENTS, min(X.shape) - 1)
    reduced = PCA(n_components, svd_solver="arpack", random_state=seed).fit_transform(X)
    near = kneighbors_graph(reduced, min(N_NEIGHBORS, X.shape[0] - 1))
    return communities(
        near, "RBConfigurationVertexPartition", seed, resolution_parameter=1.0, n_iterations=-1
    )


def cluster_prepared(X, k, seed, kind):
    return cluster(prepare_by_hand(X, kind), k, seed)


def prepare_by_hand(X, kind):
    """Prepare a matrix as a person who knows its kind would."""
    if kind == "genes" and X.min() > 0 and X.max() > LARGE:
        X = np.log2(X)
    return prepare(X, STEPS[kind])


AS_IT_IS = OneSided("leiden", None, EVERYWHERE, cluster)
PREPARED = OneSided("leiden_prepared", None, EVERYWHERE, cluster_prepared)
