"""ROCCO() as it is: the values are prepared, numbers of clusters unknown or given."""

from typing import Any

from benchmarks.paper.methods.base import EVERYWHERE, TEXT, Found, TwoSided
from benchmarks.paper.methods.fit_rocco import fit_rocco


def cluster(X: Any, k: int, seed: int) -> Found:
    return fit_rocco(X, seed, prepare="auto")


def cluster_true_k(X: Any, k: int, seed: int, n_clusters: list[int]) -> Found:
    return fit_rocco(X, seed, prepare="auto", n_clusters=tuple(n_clusters))


METHOD = TwoSided("rocco", None, TEXT, cluster, takes_missing=True)
TRUE_K = TwoSided("rocco_true_k", None, EVERYWHERE, cluster_true_k, takes_missing=True)
