"""Graphs among rows and among columns."""

from pyrocco.graph.build import mutual_knn_graph
from pyrocco.graph.combine import combined_graph
from pyrocco.graph.edges import Graph, degree_weights
from pyrocco.graph.laplacian import Laplacian

__all__ = ["Graph", "Laplacian", "combined_graph", "degree_weights", "mutual_knn_graph"]
