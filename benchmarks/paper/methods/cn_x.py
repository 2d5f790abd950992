"""Control: the last step of default ROCCO alone, without a search for outlier cells."""

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.control_x import label_data


def cluster(X, k, seed):
    return label_data(X, None, seed)


METHOD = TwoSided("cn_x", None, TEXT, cluster)
