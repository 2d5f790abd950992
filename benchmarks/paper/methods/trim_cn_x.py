"""Control: outlier cells replaced by an additive fit, then cn_x."""

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.control_x import label_data
from benchmarks.paper.methods.trim import trim


def cluster(X, k, seed):
    return label_data(trim(X), None, seed)


METHOD = TwoSided("trim_cn_x", None, TEXT, cluster)
