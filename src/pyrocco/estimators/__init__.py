"""The estimators, with the interface of scikit-learn, imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyrocco.estimators.auto import (
        AutoKMeans,
        AutoSpectralBiclustering,
        AutoSpectralCoclustering,
    )
    from pyrocco.estimators.cobra import COBRA, COBRAr
    from pyrocco.estimators.loading import load
    from pyrocco.estimators.rcc import RCC
    from pyrocco.estimators.rocco import ROCCO

# The module that defines each name.
_HOMES = {
    "COBRA": "cobra",
    "RCC": "rcc",
    "ROCCO": "rocco",
    "AutoKMeans": "auto",
    "AutoSpectralBiclustering": "auto",
    "AutoSpectralCoclustering": "auto",
    "COBRAr": "cobra",
    "load": "loading",
}

__all__ = [
    "COBRA",
    "RCC",
    "ROCCO",
    "AutoKMeans",
    "AutoSpectralBiclustering",
    "AutoSpectralCoclustering",
    "COBRAr",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
