"""Graphs of the rows and of the columns of a matrix."""

from pyrocco.graph.build import mutual_knn_graph
from pyrocco.graph.distances import METRICS
from pyrocco.graph.edges import Graph, Laplacian, combined_graph, degree_weights

__all__ = ["METRICS", "Graph", "Laplacian", "combined_graph", "degree_weights", "mutual_knn_graph"]
