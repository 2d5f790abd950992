"""Control: cn_x with the number of clusters given."""

from benchmarks.paper.methods.base import TEXT, TwoSided
from benchmarks.paper.methods.control_x import label_data

METHOD = TwoSided("cn_x+km", None, TEXT, label_data)
