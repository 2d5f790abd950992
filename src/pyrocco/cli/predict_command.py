"""``pyrocco predict``: assign new rows or columns to the clusters of a fit."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pyrocco.cli.encoded_input import read_as_encoded
from pyrocco.cli.fitted_model import FittedModel, load_fitted
from pyrocco.cli.input import read_file
from pyrocco.cli.options import ReadOptions, WriteOptions
from pyrocco.cli.progress_bar import CommandProgress, bar_only
from pyrocco.cli.terminal import print_output, printable, say_all, tell
from pyrocco.estimators import ROCCO
from pyrocco.io import Matrix, MatrixError, OutputError, match_columns, write_table
from pyrocco.io.result_files import check_table_path, csv_text
from pyrocco.io.result_folder import MODEL_FILE, check_not_input
from pyrocco.texts import one_line

__all__ = ["PredictJob", "predict_file"]


@dataclass(frozen=True)
class PredictJob:
    """What ``pyrocco predict`` is asked to do."""

    model: Path
    source: Path
    read: ReadOptions
    write: WriteOptions
    output: Path | None
    columns: bool = False
    as_json: bool = False
    quiet: bool = False


def predict_file(job: PredictJob) -> None:
    """Assign the rows or columns of a file to clusters, and print or write the table."""
    path = job.model / MODEL_FILE if job.model.is_dir() else job.model
    if job.output is not None:
        _check_output(job.output, [path, job.source], job.write.force)
    source = str(job.source)
    with bar_only(job.quiet, ["model", "reading", "labels"]) as progress:
        with progress.stage("model"):
            fitted = load_fitted(path)
        with progress.stage("reading"):
            data = _read_as_fitted(job, fitted, progress)
        if not job.quiet:
            say_all(data.notes)
        progress.of_matrix(*data.shape)
        with progress.stage("labels"):
            table = _assign(fitted.model, data, source, job.columns)
    _deliver(table, job)


def _check_output(path: Path, inputs: list[Path], force: bool) -> None:
    """Refuse to overwrite an input, or an existing file unless that is asked for."""
    check_table_path(path)
    check_not_input(path, inputs)
    if os.path.lexists(path) and not force:
        raise OutputError(f"{path}: exists already: name another file, or replace it with --force")


def _deliver(table: pd.DataFrame, job: PredictJob) -> None:
    """Write or print the table."""
    if job.output is not None:
        write_table(job.output, table, job.write.escape)
    if job.as_json:
        print_output(json.dumps(table.to_dict("records"), indent=2))
    elif job.output is None:
        columns = {str(name): table[name] for name in table}
        columns["name"] = columns["name"].map(lambda name: printable(str(name)))
        print_output(csv_text(columns, job.write.escape).rstrip("\r\n"))
    elif not job.quiet:
        side = "columns" if job.columns else "rows"
        n_far = table["far"].sum()
        tell(
            f"Wrote the labels to {job.output}: {len(table)} {side}, {n_far} far from every "
            "cluster."
        )


def _read_as_fitted(job: PredictJob, fitted: FittedModel, progress: CommandProgress) -> Matrix:
    """Read new rows or columns, arranged as those of the fit, and encoded if those were."""
    source = str(job.source)
    if not fitted.encoding:
        return _match(_read_numbers(job, fitted, progress), fitted, source, job.columns)
    if job.columns:
        raise MatrixError(
            f"{source}: the fit encoded the columns of a table, so --columns is not possible: use "
            "pyrocco.prepare.encode and the method place_columns of the model in Python"
        )
    return read_as_encoded(job.source, job.read, fitted.encoding)


def _read_numbers(job: PredictJob, fitted: FittedModel, progress: CommandProgress) -> Matrix:
    """Read new rows or columns; a column that the model knows is data, whatever it looks like."""
    data = read_file(job.source, job.read, progress)
    if job.columns or job.read.transpose or set(fitted.column_names) <= set(data.column_names):
        return data
    try:
        return read_file(job.source, job.read, progress, columns=fitted.column_names)
    except MatrixError:
        return data  # columns are missing: the message says which


def _match(data: Matrix, fitted: FittedModel, source: str, columns: bool) -> Matrix:
    """Arrange the columns of new rows, or the rows of new columns, as in the fit."""
    if not columns:
        return match_columns(data, fitted.column_names, source, "column")
    return match_columns(data.transpose(), fitted.row_names, source, "row").transpose()


def _assign(model: ROCCO, data: Matrix, source: str, columns: bool) -> pd.DataFrame:
    try:
        place = model.place_columns if columns else model.place
        table: pd.DataFrame = place(data.X)
    except ValueError as error:
        raise MatrixError(f"{source}: {one_line(str(error))}") from error
    table.insert(0, "name", list(data.column_names if columns else data.row_names))
    return table
