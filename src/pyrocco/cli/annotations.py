"""Annotations of ``pyrocco fit``: read them, compare them with the clusters, store them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco._typing import FittedCoClustering, Labels
from pyrocco.cli.encoded_input import EncodedInput
from pyrocco.cli.options import AnnotateOptions
from pyrocco.io import Matrix, write_table
from pyrocco.io.annotations import annotate_from, stored_annotations
from pyrocco.io.read import check_file
from pyrocco.io.result_folder import ANNOTATION_TABLES
from pyrocco.results.association import association, cross_table
from pyrocco.texts import plain_text

__all__ = ["about_annotations", "annotated", "write_associations"]


def annotated(data: EncodedInput, options: AnnotateOptions) -> EncodedInput:
    """Add the tables of annotations that the options name."""
    matrix = data.matrix
    for path in options.tables:
        check_file(path)
        matrix = annotate_from(matrix, path)
    return replace(data, matrix=matrix)


def about_annotations(matrix: Matrix) -> dict[str, Any]:
    """Return what a model file stores about the annotations, and the names of the axes."""
    return {
        "row_annotations": stored_annotations(matrix.row_annotations),
        "column_annotations": stored_annotations(matrix.column_annotations),
        "axis_names": matrix.axis_names,
    }


def write_associations(
    folder: Path, model: FittedCoClustering, matrix: Matrix, ending: str, escape: bool
) -> list[str]:
    """Write the tests of association, and how each annotation is spread over the clusters.

    Returns the names of the files; there are none without annotations.
    """
    sides = [
        (matrix.axis_names[0], np.asarray(model.row_labels_), matrix.row_annotations),
        (matrix.axis_names[1], np.asarray(model.column_labels_), matrix.column_annotations),
    ]
    given = [(noun, labels, table) for noun, labels, table in sides if table is not None]
    if not given:
        return []
    tests = [
        association(labels, table).assign(side=noun).set_index("side").reset_index()
        for noun, labels, table in given
    ]
    crossed = [
        _cross_table(noun, labels, table[name]) for noun, labels, table in given for name in table
    ]
    names = [f"{name}.{ending}" for name in ANNOTATION_TABLES]
    for name, tables in zip(names, (tests, crossed), strict=True):
        write_table(folder / name, pd.concat(tables, ignore_index=True), escape)
    return names


def _cross_table(noun: str, labels: Labels, annotation: pd.Series[Any]) -> pd.DataFrame:
    """Return a cross-table with a line for each of its numbers, or of its dates."""
    table = cross_table(labels, annotation)
    dates = table.select_dtypes("datetime")
    texts = dates.apply(lambda column: column.map(plain_text, na_action="ignore"))
    numbers, written = (
        part.reset_index().melt("cluster", var_name="value", value_name=name)
        for part, name in ((table.drop(columns=dates.columns), "number"), (texts, "date"))
    )
    long = pd.concat([numbers, written]) if len(written) else numbers
    long = long.sort_values("cluster", kind="stable", ignore_index=True)
    long.insert(0, "annotation", str(annotation.name))
    long.insert(0, "side", noun)
    return long.astype({"value": str, "number": float})
