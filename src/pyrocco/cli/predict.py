"""``pyrocco predict``: where new rows, or new columns, belong in a fit from before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from pyrocco import ROCCO
from pyrocco.cli.groups import grouped
from pyrocco.cli.messages import count, one_line, say_all, tell
from pyrocco.cli.options import AsJson, Quiet
from pyrocco.cli.reading import Reading
from pyrocco.cli.results import MODEL_FILE
from pyrocco.estimators.loading import load_with_about
from pyrocco.io import Matrix, MatrixError, match_columns, write_table
from pyrocco.prepare import prepare_alike

__all__ = ["predict"]

# Preparations of a column that the other columns have no part in.
_BY_COLUMN = ("log1p", "zscore")


@grouped
def predict(
    model: Annotated[
        Path,
        typer.Argument(help="model.pyrocco of a fit, or the folder it is in.", metavar="MODEL"),
    ],
    new: Annotated[Path, typer.Argument(help="New rows: any file that fit reads.", metavar="NEW")],
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File for the labels, .csv or .parquet.", metavar="OUT"
        ),
    ] = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="NEW holds new columns, not new rows.")
    ] = False,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="NEW is prepared already: take its values as they are.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the clusters of new rows, or columns, in the fit of MODEL.

    Prints name, label, confidence, distance, and whether a row is far from every cluster, or
    writes them to OUT. Columns are matched by name, and values prepared as those of the fit were.
    """
    fitted, about = _load(model)
    data = reading.read(new, quiet)
    data = _matched(data, about, str(new), columns)
    prepared = data if as_is else _prepared(data, about["preparation"], str(new), columns)
    if not quiet:
        say_all(prepared.notes)
    table = _place(fitted, prepared, str(new), columns)
    if output is not None:
        write_table(output, table)
    if as_json:
        typer.echo(json.dumps(table.to_dict("records"), indent=2))
    elif output is None:
        typer.echo(table.to_csv(index=False), nl=False)
    elif not quiet:
        rows = count(len(table), "column" if columns else "row")
        tell(f"{output} has the labels of {rows}; {table['far'].sum()} far from every cluster.")


def _load(path: Path) -> tuple[ROCCO, dict[str, Any]]:
    model, about = load_with_about(path / MODEL_FILE if path.is_dir() else path)
    if not isinstance(model, ROCCO):
        raise MatrixError(f"{path}: holds a {type(model).__name__}; only ROCCO takes new rows")
    if "column_names" not in about:
        raise MatrixError(
            f"{path}: holds no names of rows and columns, since it was saved from Python: use "
            "pyrocco.load and the model's predict there"
        )
    return model, about


def _matched(data: Matrix, about: dict[str, Any], source: str, columns: bool) -> Matrix:
    """The new rows with the columns of the fit, or the new columns with its rows."""
    if not columns:
        return match_columns(data, about["column_names"], source, "column")
    return match_columns(data.transpose(), about["row_names"], source, "row").transpose()


def _prepared(data: Matrix, preparation: dict[str, Any], source: str, columns: bool) -> Matrix:
    """Prepare the values as those of the fit were."""
    if not preparation:
        return data
    if columns:
        others = [name for name in preparation if name not in _BY_COLUMN]
        if others:
            raise MatrixError(
                f"{source}: the fit was prepared by --{others[0]}, which scales rows by all their "
                "columns: prepare the new columns together with those of the fit, and use --as-is"
            )
        preparation = dict.fromkeys(preparation)  # each column by itself
    try:
        X = prepare_alike(data.X, preparation)
    except ValueError as error:
        raise MatrixError(f"{source}: {error}") from error
    names = ", ".join(preparation)
    return replace(data, X=X).noting(f"Values were prepared as those of the fit: {names}.")


def _place(model: ROCCO, data: Matrix, source: str, columns: bool) -> pd.DataFrame:
    try:
        placed = model.place_columns(data.X) if columns else model.place(data.X)
    except ValueError as error:
        raise MatrixError(f"{source}: {one_line(str(error))}") from error
    placed.insert(0, "name", list(data.column_names if columns else data.row_names))
    return placed
