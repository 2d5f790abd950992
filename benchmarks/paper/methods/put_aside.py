"""Fit a co-clustering method that does not accept rows or columns of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.methods.base import Found


def fit_filled(model: Any, X: Any) -> Found:
    """Fit the other rows and columns; rows and columns of zeros get the label -1."""
    filled = X != 0
    rows = np.flatnonzero(np.asarray(filled.sum(axis=1)).ravel())
    columns = np.flatnonzero(np.asarray(filled.sum(axis=0)).ravel())
    model.fit(X[rows][:, columns])
    labels = Found(np.full(X.shape[0], -1), np.full(X.shape[1], -1))
    labels.rows[rows] = model.row_labels_
    labels.columns[columns] = model.column_labels_
    return labels
