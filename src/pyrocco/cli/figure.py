"""The heat map of ``pyrocco fit``."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from pyrocco._typing import FittedCoClustering
from pyrocco.io import Matrix, default_names
from pyrocco.plots import clustermap
from pyrocco.plots.input import NamedData

__all__ = ["heat_map"]


def heat_map(model: FittedCoClustering, matrix: Matrix) -> Figure:
    """Draw the sorted matrix with its clusters, their trees and the annotations."""
    names = matrix.row_names, matrix.column_names
    # Names such as row_0 say no more than the place.
    named = [
        own != default_names(kind, len(own))
        for kind, own in zip(("row", "column"), names, strict=True)
    ]
    rows, columns = (pd.Index(own, dtype=object) for own in names)
    words = f"{matrix.axis_names[0]}s", f"{matrix.axis_names[1]}s"
    data = NamedData(matrix.X, rows, columns, (named[0], named[1]), words)
    drawn = clustermap(
        data,
        model=model,
        row_annotations=matrix.row_annotations,
        column_annotations=matrix.column_annotations,
    )
    return drawn.figure
