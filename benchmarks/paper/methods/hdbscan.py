"""HDBSCAN of scikit-learn. Rows it calls noise are one cluster more to the metrics."""

from scipy import sparse
from sklearn.cluster import HDBSCAN

from benchmarks.paper.methods.base import NOWHERE, OneSided

# Up to here all distances fit into memory, which is faster than a tree in many dimensions.
_MAX_BRUTE = 12_000


def cluster(X, k, seed):
    X = X.toarray() if sparse.issparse(X) else X
    algorithm = "brute" if X.shape[0] <= _MAX_BRUTE else "auto"
    return HDBSCAN(min_cluster_size=10, algorithm=algorithm, copy=True).fit_predict(X)


METHOD = OneSided("hdbscan", "HDBS", NOWHERE, cluster)
