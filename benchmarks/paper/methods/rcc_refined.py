"""Control: pyrocco's scale-free RCC with its own labels, one side at a time."""

from benchmarks.paper.methods.base import NOWHERE, OneSided
from pyrocco import RCC


def cluster(X, k, seed):
    return RCC().fit(X).labels_


METHOD = OneSided("rcc_refined", None, NOWHERE, cluster)
