"""Robust Continuous Co-Clustering (ROCCO): groups of rows and of columns of a matrix.

Implements He and Moreira-Matias, *Robust Continuous Co-Clustering* (2018).
"""

from importlib.metadata import version

from pyrocco.estimators import (
    COBRA,
    RCC,
    ROCCO,
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
    COBRAr,
    load,
)
from pyrocco.graph import Graph, mutual_knn_graph

__version__ = version("pyrocco")

__all__ = [
    "COBRA",
    "RCC",
    "ROCCO",
    "AutoKMeans",
    "AutoSpectralBiclustering",
    "AutoSpectralCoclustering",
    "COBRAr",
    "Graph",
    "load",
    "mutual_knn_graph",
]
