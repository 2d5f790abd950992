"""Robust Continuous Co-Clustering (ROCCO): groups of rows and of columns of a matrix.

Implements He and Moreira-Matias, *Robust Continuous Co-Clustering* (2018).
"""

from importlib import import_module
from importlib.metadata import version
from types import ModuleType

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


def __getattr__(name: str) -> ModuleType:
    # As in scanpy: pyrocco.tl, pyrocco.pl. Loaded when used, since pl brings matplotlib.
    if name in ("pl", "tl"):
        return import_module(f"pyrocco.{name}")
    raise AttributeError(f"module 'pyrocco' has no attribute {name!r}")
