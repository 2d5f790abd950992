"""``pyrocco fit`` of a matrix in blocks of rows: many files, or a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from pyrocco import ROCCO
from pyrocco.backends.chunked.dask import ClusterLostError
from pyrocco.cli.job import Job
from pyrocco.cli.messages import say_all
from pyrocco.cli.options import OutputFormat
from pyrocco.cli.preparing import Preparing
from pyrocco.cli.progress import fitting_bars
from pyrocco.cli.reading import Reading
from pyrocco.cli.results import fit_model, summarise_model
from pyrocco.cli.running import NoClusterError, Running, peak_memory
from pyrocco.cli.stopping import stoppable
from pyrocco.io import (
    Matrix,
    MatrixError,
    Shards,
    is_sharded,
    label_table,
    means_table,
    open_shards,
    row_label_writer,
    split_rows,
    staged_folder,
    write_table,
)

__all__ = ["fit_in_blocks"]

LEFT_OUT = (
    "Fitting in blocks of rows: no heat map, no report and no model file are written, since they "
    "need the whole matrix."
)


def fit_in_blocks(
    model: ROCCO, job: Job, reading: Reading, preparing: Preparing, running: Running
) -> dict[str, Any]:
    """Co-cluster a matrix in blocks of rows and write labels, block means and summary.

    Parameters
    ----------
    model : ROCCO
        The estimator, not fitted yet; it is fitted here.
    job : Job
        The matrix, and where the results go.
    reading : Reading
        How to read the matrix where it lies in a single file.
    preparing : Preparing
        How to prepare what was read from a single file.
    running : Running
        Where to run.

    Returns
    -------
    dict
        The summary, as it was written.

    Raises
    ------
    MatrixError
        The matrix cannot be read or fitted, or an option has no effect on it.
    NoClusterError
        There is no cluster, or it was lost.

    Examples
    --------
    >>> job = Job(Path("data/*.csv"), Path("results"))
    >>> fit_in_blocks(ROCCO(), job, Reading(transpose=True), Preparing(), Running())
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: data/*.csv: --transpose has no effect on a matrix in many ...
    """
    matrix = _open(job, reading, preparing)
    write_labels = row_label_writer(job.form.value, matrix.shape[0])
    # The cluster outlives the fit by the time it takes to write what lies on it.
    with (
        _lost_cluster_as_line(),
        stoppable(job.output, running.resume),
        staged_folder(job.output) as folder,
        running.started() as client,
    ):
        shards = _shards(matrix, client)
        if not job.quiet:
            say_all([*shards.notes, LEFT_OUT])
        with fitting_bars(job.hide_bars):
            told = fit_model(model, shards.X, str(job.source))
        about = {
            "input": str(job.source),
            "reading": reading.options,
            "prepared": preparing.names,
        }
        summary = {**about, **told, **_summary(model, shards, client)}
        found = model.row_labels_, model.row_membership_
        files = [write_labels(folder, *found, shards.row_names)]
        files += _write_small_tables(folder, model, shards, job.form.value)
        summary["files"] = [*files, "summary.json"]
        text = json.dumps(summary, indent=2) + "\n"
        (folder / "summary.json").write_text(text, encoding="utf-8")
    return summary


def _open(job: Job, reading: Reading, preparing: Preparing) -> Shards | Matrix:
    """Open what lies in many files without reading it, or read a single file."""
    if job.form is OutputFormat.h5ad:
        raise MatrixError("--output-format h5ad needs the whole matrix: choose csv or parquet")
    if not is_sharded(job.source):
        return preparing.apply(reading.read(job.source, job.quiet), job.source)
    given = [name for name, value in vars(reading).items() if value != getattr(Reading(), name)]
    for option in (*given, *preparing.names):
        raise MatrixError(
            f"{job.source}: --{option} has no effect on a matrix in many files, which is not read "
            "as a whole: write the files the way they are to be fitted"
        )
    return open_shards(job.source)


@contextmanager
def _lost_cluster_as_line() -> Iterator[None]:
    try:
        yield
    except ClusterLostError as error:
        message = str(error)
        if "--resume" not in message:
            message += " The same command with --resume goes on from the last finished stage."
        raise NoClusterError(message) from error


def _shards(matrix: Shards | Matrix, client: Any) -> Shards:
    """A matrix that was read whole is cut into blocks, at least one for each worker."""
    if isinstance(matrix, Shards):
        return matrix
    n_workers = 1 if client is None else len(client.nthreads())
    X, names = split_rows(matrix.X, matrix.row_names, at_least=n_workers)
    return Shards(X, matrix.column_names, names, matrix.notes)


def _summary(model: ROCCO, shards: Shards, client: Any) -> dict[str, Any]:
    about = {"notes": list(shards.notes), "shape": list(shards.shape)}
    if client is not None:
        about["worker_peak_memory"] = client.run(peak_memory)
    return {**about, **summarise_model(model)}


def _write_small_tables(folder: Path, model: ROCCO, shards: Shards, ending: str) -> list[str]:
    """Columns and blocks are few enough for one file each."""
    columns = label_table(shards.column_names, model.column_labels_, model.column_membership_)
    tables = {"column_labels": columns, "block_means": means_table(model.block_means_)}
    files = [f"{name}.{ending}" for name in tables]
    for name, table in zip(files, tables.values(), strict=True):
        write_table(folder / name, pd.DataFrame(table))
    return files
