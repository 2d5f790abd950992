"""Control: trim_cn_x with the number of clusters given."""

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.control_x import label_data
from benchmarks.paper.methods.trim import trim


def cluster(X, k, seed):
    return label_data(trim(X), k, seed)


METHOD = TwoSided("trim_cn_x+km", None, TEXT, cluster)
