"""The paper's last step for the representations of RCC and COBRA, as for ROCCO's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrocco.assign import ContinuousAssigner, SilhouetteKMeans
from pyrocco.estimators.checks import is_mostly_zero


def assign(X: Any, U: np.ndarray, seed: int, k: int | None = None) -> np.ndarray:
    """Label rows of `U`: RCC, or k-means with the silhouette where `X` is mostly zero."""
    if k is not None or is_mostly_zero(X):
        return SilhouetteKMeans(seed).assign(U, k)
    return ContinuousAssigner().assign(U, None)
