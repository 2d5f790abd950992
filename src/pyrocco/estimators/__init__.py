"""The estimators, with the interface of scikit-learn."""

from pyrocco.estimators.auto import (
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
)
from pyrocco.estimators.cobra import COBRA, COBRAr
from pyrocco.estimators.loading import load
from pyrocco.estimators.rcc import RCC
from pyrocco.estimators.rocco import ROCCO

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
