"""ROCCO with a variant of which some fields are changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from benchmarks.paper.methods.base import Found
from benchmarks.paper.methods.shared_representation import shared_representation
from pyrocco import ROCCO
from pyrocco.fitting.engines import Given
from pyrocco.fitting.pipeline import fit_rocco
from pyrocco.fitting.settings import Settings
from pyrocco.progress import Progress


def fit_without(X: Any, seed: int, **changes: Any) -> Found:
    """Fit the default variant with changed fields (see `pyrocco.fitting.variants.Refined`)."""
    return fit_changed(ROCCO(prepare=None, random_state=seed), X, **changes)


def fit_changed(model: ROCCO, X: Any, **changes: Any) -> Found:
    """Fit a model whose variant has changed fields."""
    settings = Settings.of(model.get_params(deep=False))
    settings = replace(settings, variant=replace(settings.variant, **changes))
    matrix = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    with shared_representation() as spared:
        clusters = fit_rocco(Given(matrix), settings, Progress()).clusters
    return Found(clusters.row_labels, clusters.column_labels, spared=spared.seconds)
