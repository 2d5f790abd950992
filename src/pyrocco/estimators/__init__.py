"""The estimators, in the manner of scikit-learn."""

from pyrocco.estimators.auto import (
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
)
from pyrocco.estimators.cobra import COBRA
from pyrocco.estimators.cobrar import COBRAr
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
