"""HDBSCAN of scikit-learn. Noise points count as one more cluster in the scores."""

from scipy import sparse
from sklearn.cluster import HDBSCAN

from benchmarks.paper.methods.base import NOWHERE, OneSided

# Up to this size all distances fit into memory, which is faster than a tree.
_MAX_BRUTE = 12_000


def cluster(X, k, seed):
    X = X.toarray() if sparse.issparse(X) else X
    algorithm = "brute" if X.shape[0] <= _MAX_BRUTE else "auto"
    return HDBSCAN(min_cluster_size=10, algorithm=algorithm, copy=True).fit_predict(X)


METHOD = OneSided("hdbscan", "HDBS", NOWHERE, cluster)
