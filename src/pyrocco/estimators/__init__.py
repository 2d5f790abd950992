"""The estimators, in the manner of scikit-learn."""

from pyrocco.estimators.rcc import RCC
from pyrocco.estimators.rocco import ROCCO

__all__ = ["RCC", "ROCCO"]
