"""Robust Continuous Co-Clustering (ROCCO): clusters of the rows and the columns of a matrix.

Implements He and Moreira-Matias, *Robust Continuous Co-Clustering* (2018).

Names are imported when they are first used, so that ``import pyrocco`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyrocco import (  # noqa: F401 - modules that are documented as public
        checkpoint,
        datasets,
        inspection,
        io,
        metrics,
        pl,
        plots,
        prepare,
        progress,
        report,
        solvers,
        tl,
    )
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
    from pyrocco.plots.cluster_map import clustermap
    from pyrocco.results.association import association, cross_table
    from pyrocco.results.reproducibility import Reproducibility, reproducibility

    __version__: str

__all__ = [
    "COBRA",
    "RCC",
    "ROCCO",
    "AutoKMeans",
    "AutoSpectralBiclustering",
    "AutoSpectralCoclustering",
    "COBRAr",
    "Graph",
    "Reproducibility",
    "association",
    "clustermap",
    "cross_table",
    "load",
    "mutual_knn_graph",
    "reproducibility",
]

# The module that defines each public name.
_HOMES = {
    "COBRA": "pyrocco.estimators.cobra",
    "RCC": "pyrocco.estimators.rcc",
    "ROCCO": "pyrocco.estimators.rocco",
    "AutoKMeans": "pyrocco.estimators.auto",
    "AutoSpectralBiclustering": "pyrocco.estimators.auto",
    "AutoSpectralCoclustering": "pyrocco.estimators.auto",
    "COBRAr": "pyrocco.estimators.cobra",
    "Graph": "pyrocco.graph",
    "Reproducibility": "pyrocco.results.reproducibility",
    "association": "pyrocco.results.association",
    "clustermap": "pyrocco.plots.cluster_map",
    "cross_table": "pyrocco.results.association",
    "load": "pyrocco.estimators.loading",
    "mutual_knn_graph": "pyrocco.graph",
    "reproducibility": "pyrocco.results.reproducibility",
}
_MODULES = (
    "checkpoint",
    "datasets",
    "inspection",
    "io",
    "metrics",
    "pl",
    "plots",
    "prepare",
    "progress",
    "report",
    "solvers",
    "tl",
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"pyrocco.{name}")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("pyrocco")
    else:
        raise AttributeError(f"module 'pyrocco' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES, "__version__"})
