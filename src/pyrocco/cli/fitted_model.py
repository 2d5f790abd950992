"""The model of ``pyrocco fit``, with the names of the rows and columns of its matrix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pyrocco.cells.encoded_columns import EncodedColumn
from pyrocco.estimators import ROCCO
from pyrocco.estimators.loading import load_with_about
from pyrocco.io import MatrixError, ModelFileError
from pyrocco.io.annotations import StoredAnnotations, unstored_annotations
from pyrocco.io.fields import FieldError, Fields, Sizes, Text, Texts, TupleOf, agree

__all__ = ["FittedModel", "load_fitted"]


class _Encoding:
    """How the columns of a table were encoded; their parts were checked as the file was read."""

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the classes, and that there are as many encoded columns as in the model."""
        known = isinstance(value, (list, tuple)) and all(
            isinstance(column, EncodedColumn) for column in value
        )
        if not known:
            raise FieldError(f"{place} is not a list of encoded columns")
        if value:
            agree(sizes, "columns", sum(len(column.names) for column in value), place)


_ABOUT = Fields(
    row_names=Texts("rows"),
    column_names=Texts("columns"),
    encoding=_Encoding(),
    row_annotations=StoredAnnotations("rows"),
    column_annotations=StoredAnnotations("columns"),
    axis_names=TupleOf(Text(), Text()),
    # Of tables with texts only, and not stored by earlier versions.
    optional=("encoding", "row_annotations", "column_annotations", "axis_names"),
)


@dataclass(frozen=True)
class FittedModel:
    """A fitted model, and the names and annotations of its rows and columns."""

    model: ROCCO
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    encoding: tuple[EncodedColumn, ...] = ()  # of the columns of a table with texts
    row_annotations: pd.DataFrame | None = None
    column_annotations: pd.DataFrame | None = None
    axis_names: tuple[str, str] = ("row", "column")

    @property
    def about_rows_and_columns(self) -> dict[str, Any]:
        """What `write_report` is told about rows and columns."""
        return {
            "row_names": self.row_names,
            "column_names": self.column_names,
            "row_annotations": self.row_annotations,
            "column_annotations": self.column_annotations,
            "axis_names": self.axis_names,
        }


def load_fitted(path: Path) -> FittedModel:
    """Read a model file that ``pyrocco fit`` wrote.

    Raises
    ------
    MatrixError
        If the model is of another class or was saved from Python.
    ModelFileError
        If the file is damaged.
    """
    model, about = load_with_about(path)
    if not isinstance(model, ROCCO):
        raise MatrixError(
            f"{path}: contains a model of class {type(model).__name__}; this command needs one "
            "of ROCCO"
        )
    if "column_names" not in about:
        raise MatrixError(
            f"{path}: contains no names of rows and columns, because it was saved from Python: "
            "use pyrocco.load and the methods of the model"
        )
    sizes = {"rows": len(model.row_labels_), "columns": len(model.column_labels_)}
    try:
        # Something else may be stored beside.
        used = {name: value for name, value in about.items() if name in _ABOUT.table}
        _ABOUT.check(used, sizes, "")
    except FieldError as error:
        raise ModelFileError(
            f"{path}: does not hold what pyrocco fit stores with a model ({error}): fit again"
        ) from error
    names = tuple(about["row_names"]), tuple(about["column_names"])
    rows, columns = (
        unstored_annotations(about.get(f"{side}_annotations", {}), own)
        for side, own in zip(("row", "column"), names, strict=True)
    )
    return FittedModel(
        model,
        *names,
        encoding=tuple(about.get("encoding", ())),
        row_annotations=rows,
        column_annotations=columns,
        axis_names=tuple(about.get("axis_names", ("row", "column"))),
    )
