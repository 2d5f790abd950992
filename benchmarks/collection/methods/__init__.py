"""The methods that are compared on the real sets: those of the paper's benchmark, and more."""

from dataclasses import replace

from benchmarks.collection.methods.control_x import METHOD as CONTROL_X
from benchmarks.collection.methods.evoc import METHOD as EVOC
from benchmarks.collection.methods.km_silhouette import METHOD as KM_SILHOUETTE
from benchmarks.collection.methods.leiden import AS_IT_IS, PREPARED
from benchmarks.collection.methods.rocco import METHOD as ROCCO
from benchmarks.paper.methods import METHODS as PAPER

METHODS = {
    method.name: method
    for method in (
        ROCCO,
        CONTROL_X,
        AS_IT_IS,
        PREPARED,
        KM_SILHOUETTE,
        PAPER["hdbscan"],
        EVOC,
        replace(PAPER["scc"], name="scc_true_k"),
    )
}
# Random only in the sample on which the clusters of large matrices are determined.
RANDOM_WHEN_LARGE = ("rocco", "control_x")
DETERMINISTIC = ("hdbscan",)
