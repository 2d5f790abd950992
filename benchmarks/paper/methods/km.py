"""k-means on the data, with the number of clusters given."""

from sklearn.cluster import KMeans

from benchmarks.paper.methods.base import EVERYWHERE, OneSided


def cluster(X, k, seed):
    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


METHOD = OneSided("km", "KM", EVERYWHERE, cluster)
