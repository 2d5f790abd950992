"""The paper's data, named and, for the quick runs, cut down."""

from benchmarks.paper.datasets.base import Source
from benchmarks.paper.datasets.half import Half
from benchmarks.paper.datasets.real import Real, real_sets
from benchmarks.paper.datasets.synthetic import Biclusters

__all__ = ["Biclusters", "Half", "Real", "Source", "real_sets"]
