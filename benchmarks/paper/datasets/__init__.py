"""The data sets of the experiments, reduced in size for quick runs."""

from benchmarks.paper.datasets.base import Source
from benchmarks.paper.datasets.half import Half
from benchmarks.paper.datasets.real import Real, real_sets
from benchmarks.paper.datasets.synthetic import Biclusters

__all__ = ["Biclusters", "Half", "Real", "Source", "real_sets"]
