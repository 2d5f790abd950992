"""``pyrocco predict``: assign new rows or columns to the clusters of a fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from pyrocco.cells.preparation import prepare_alike
from pyrocco.cli.fitted_model import FittedModel, load_fitted
from pyrocco.cli.input import read_file
from pyrocco.cli.options import MODEL_FILE, ReadOptions
from pyrocco.cli.terminal import one_line, say_all, tell
from pyrocco.estimators import ROCCO
from pyrocco.io import Matrix, MatrixError, match_columns, write_table

__all__ = ["predict_file"]

# Preparations of a column that do not depend on the other columns.
_BY_COLUMN = ("log1p", "zscore")


def predict_file(
    model: Path,
    new: Path,
    read: ReadOptions,
    output: Path | None,
    *,
    columns: bool,
    as_is: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Assign the rows or columns of a file to clusters, and print or write the table."""
    fitted = load_fitted(model / MODEL_FILE if model.is_dir() else model)
    data = _match(read_file(new, read, quiet), fitted, str(new), columns)
    prepared = data if as_is else _prepare(data, fitted.preparation, str(new), columns)
    if not quiet:
        say_all(prepared.notes)
    table = _assign(fitted.model, prepared, str(new), columns)
    if output is not None:
        write_table(output, table)
    if as_json:
        typer.echo(json.dumps(table.to_dict("records"), indent=2))
    elif output is None:
        typer.echo(table.to_csv(index=False), nl=False)
    elif not quiet:
        side = "columns" if columns else "rows"
        n_far = table["far"].sum()
        tell(f"Wrote the labels to {output}: {len(table)} {side}, {n_far} far from every cluster.")


def _match(data: Matrix, fitted: FittedModel, source: str, columns: bool) -> Matrix:
    """Arrange the columns of new rows, or the rows of new columns, as in the fit."""
    if not columns:
        return match_columns(data, fitted.column_names, source, "column")
    return match_columns(data.transpose(), fitted.row_names, source, "row").transpose()


def _prepare(data: Matrix, preparation: dict[str, Any], source: str, columns: bool) -> Matrix:
    """Prepare the values as for the fit."""
    if not preparation:
        return data
    if columns:
        others = [name for name in preparation if name not in _BY_COLUMN]
        if others:
            raise MatrixError(
                f"{source}: the fit used --{others[0]}, which scales rows by all their columns: "
                "prepare the new columns together with those of the fit, and use --as-is"
            )
        preparation = dict.fromkeys(preparation)  # learned from each column itself
    try:
        X = prepare_alike(data.X, preparation)
    except ValueError as error:
        raise MatrixError(f"{source}: {error}") from error
    names = ", ".join(preparation)
    return replace(data, X=X).noting(f"Values were prepared as for the fit: {names}.")


def _assign(model: ROCCO, data: Matrix, source: str, columns: bool) -> pd.DataFrame:
    try:
        table = model.place_columns(data.X) if columns else model.place(data.X)
    except ValueError as error:
        raise MatrixError(f"{source}: {one_line(str(error))}") from error
    table.insert(0, "name", list(data.column_names if columns else data.row_names))
    return table
