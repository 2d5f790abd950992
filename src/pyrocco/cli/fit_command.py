"""``pyrocco fit``: read a matrix, co-cluster it, write the results."""

from __future__ import annotations

import json
import os
import platform
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from pyrocco._typing import Labels, MatrixLike
from pyrocco.backends.chunked.dask import ClusterLostError
from pyrocco.cells.kinds import Cells
from pyrocco.checkpoint import Checkpoint, checkpoint_to
from pyrocco.cli.annotations import (
    about_annotations,
    annotated,
    write_associations,
)
from pyrocco.cli.dask_cluster import NoClusterError, parse_cluster, peak_memory, start_cluster
from pyrocco.cli.encoded_input import EncodedInput, read_or_encode
from pyrocco.cli.input import check_some_values, describe_cells
from pyrocco.cli.options import (
    AnnotateOptions,
    EncodeOptions,
    FitReadOptions,
    ModelOptions,
    OutputFormat,
    PrepareOptions,
    ResultOptions,
    RunOptions,
    parse_n_clusters,
)
from pyrocco.cli.progress_bar import CommandProgress, command_progress
from pyrocco.cli.terminal import (
    StoppedError,
    print_output,
    say,
    say_all,
    signal_handled,
    tell,
    warnings_as_lines,
)
from pyrocco.estimators import ROCCO
from pyrocco.fitting.memory_plan import parse_bytes
from pyrocco.fitting.settings import check_prepare
from pyrocco.io import (
    Matrix,
    MatrixError,
    OutputError,
    PartitionedMatrix,
    Results,
    is_partitioned,
    label_table,
    means_table,
    open_partitioned,
    result_writer,
    row_label_writer,
    split_rows,
    write_table,
)
from pyrocco.io.expression_values import LOGARITHMS
from pyrocco.io.partitioned import matching_files
from pyrocco.io.result_files import ChunkedRows, SideClusters
from pyrocco.io.result_folder import (
    CHECKPOINT_FILE,
    MATRIX_FILE,
    MODEL_FILE,
    REPORT_FILE,
    SUMMARY_FILE,
    check_replaceable,
    moved_when_complete,
    names_in_format,
    picture_files,
)
from pyrocco.io.unfinished import claimed_stage, write_errors
from pyrocco.plots import clustermap
from pyrocco.progress import FIT_STAGES, Observer
from pyrocco.report import write_report
from pyrocco.report.sentences import n_outlier_cells
from pyrocco.results.reproducibility import reproducibility
from pyrocco.texts import Words, counted, one_line

__all__ = ["RESULT_STAGES", "FitJob", "fit_file", "fit_model", "write_results"]

NOT_WRITTEN = (
    "Fitting in chunks of rows: no heat map, no report and no model file are written, because "
    "they need the whole matrix in memory."
)
# The stages of `write_results`.
RESULT_STAGES = ("tables", "figure", "model", "report")
_IN_CHUNKS = ("preparation", "graph of rows", "clusters", "tables")
_DEFAULTS = ResultOptions()
_PACKAGES = ("pyrocco", "numpy", "scipy", "scikit-learn", "numba")

Summary = dict[str, Any]


@dataclass(frozen=True)
class FitJob:
    """What ``pyrocco fit`` is asked to do."""

    source: Path
    output: Path
    model: ModelOptions = field(default_factory=ModelOptions)
    read: FitReadOptions = field(default_factory=FitReadOptions)
    encode: EncodeOptions = field(default_factory=EncodeOptions)
    annotate: AnnotateOptions = field(default_factory=AnnotateOptions)
    prepare: PrepareOptions = field(default_factory=PrepareOptions)
    run: RunOptions = field(default_factory=RunOptions)
    write: ResultOptions = field(default_factory=ResultOptions)
    n_repeats: int | None = None  # of the measurement of reproducibility; None for none
    quiet: bool = False
    as_json: bool = False
    json_progress: bool = False
    observer: Observer | None = None

    @property
    def about(self) -> Summary:
        """What the summary begins with: the input and how it was read."""
        about: Summary = {"input": str(self.source), "reading": vars(self.read)}
        return {**about, "annotate": list(self.annotate.names)} if self.annotate.names else about


def fit_file(job: FitJob) -> None:
    """Co-cluster the matrix of a job, write the results and say what was found."""
    model = _make_estimator(job)
    _check_output(job)
    in_chunks = is_partitioned(job.source) or job.run.cluster is not None
    fit = _fit_in_chunks if in_chunks else _fit_in_memory
    stages = _stages(job, in_chunks)
    with command_progress(job.quiet, stages, job.json_progress) as progress:
        summary = fit(model, job, progress)
    if job.as_json:
        print_output(json.dumps(summary, indent=2))
    elif not job.quiet:
        rows = counted(model.n_row_clusters_, "cluster")
        columns = counted(model.n_column_clusters_, "cluster")
        words = Words(*summary.get("axis_names", ()))
        is_guess = job.prepare.chosen == "auto" and bool(model.found_cells_.steps)
        cells, preparation = summary["cells"], summary["preparation"]
        tell(describe_cells(cells, preparation, is_guess=is_guess, words=words))
        tell(f"Found {rows} of {words.row}s and {columns} of {words.column}s.")
        tell(f"Results are in {job.output}: {', '.join(summary['files'])}")
        if REPORT_FILE in summary["files"]:
            tell(f"To explore the clusters, open {job.output / REPORT_FILE} in a browser.")


def _stages(job: FitJob, in_chunks: bool) -> list[str]:
    """The stages that a fit is expected to have."""
    if in_chunks:
        reads = [] if is_partitioned(job.source) else ["reading"]
        return [*reads, *_IN_CHUNKS]
    repeats = [] if job.n_repeats is None else ["reproducibility"]
    last = RESULT_STAGES[:-1] if job.write.no_report else RESULT_STAGES
    return ["reading", *FIT_STAGES, *repeats, *last]


def _check_output(job: FitJob) -> None:
    """Refuse to overwrite the input, or files of which nothing says that they may be replaced."""
    source, folder = job.source, job.output
    if source.suffix.lower() == ".zarr" and folder.resolve().is_relative_to(source.resolve()):
        raise OutputError(f"{folder}: is inside the input {source}: choose another folder")
    is_pattern = is_partitioned(source) and source.suffix.lower() != ".zarr"
    check_replaceable(
        folder,
        names_in_format(
            job.write.output_format.value, job.write.formats, job.annotate != AnnotateOptions()
        ),
        source=str(source),
        inputs=[*(matching_files(source) if is_pattern else [source]), *job.annotate.tables],
        force=job.write.force,
    )


def _make_estimator(job: FitJob) -> ROCCO:
    """Check the options and create the estimator."""
    options, limit = job.model, _memory_limit(job.run)
    return ROCCO(
        parse_n_clusters(options.n_clusters),
        prepare=_preparations(job.prepare),
        n_neighbors=options.n_neighbors,
        metric=options.metric.value,
        variant=options.variant.value,
        # A local cluster keeps the limit itself.
        memory_limit=limit if job.run.cluster is None else None,
        random_state=options.seed,
    )


def _preparations(options: PrepareOptions) -> str | list[str] | None:
    """Return the parameter `prepare`, after checking its names."""
    chosen = options.chosen
    try:
        check_prepare(chosen)
    except ValueError as error:
        raise typer.BadParameter(
            f"write auto, none, or names with commas between them: {error}",
            param_hint="--prepare",
        ) from error
    return chosen


def _memory_limit(options: RunOptions) -> int | None:
    """Return the memory limit in bytes, after checking that it can be applied."""
    address = None if options.cluster is None else parse_cluster(options.cluster)
    if options.memory_limit is None:
        return None
    if isinstance(address, str):
        raise typer.BadParameter(
            f"has no effect on the workers of {address}, which have their own limits: start them "
            "with dask worker --memory-limit",
            param_hint="--memory-limit",
        )
    try:
        size = parse_bytes(options.memory_limit)
    except ValueError:
        size = 0
    if not size:
        raise typer.BadParameter(
            f"write a size such as 4GB or 500MB, not '{options.memory_limit}'",
            param_hint="--memory-limit",
        )
    return size


def _fit_in_memory(model: ROCCO, job: FitJob, progress: CommandProgress) -> Summary:
    """Fit a matrix that is in memory, and write all results."""
    write = result_writer(job.write.output_format.value)
    data = _read(model, job, progress)
    check_some_values(data.matrix, job.source)
    with (
        claimed_stage(job.output) as folder,
        _stoppable(job) as checkpoint,
        moved_when_complete(folder, job.output, [job.source, *job.annotate.tables]),
    ):
        if not job.quiet:
            say_all(data.matrix.notes)
        outcome = _fit_job(model, data.matrix, job, checkpoint, progress)
        outcome |= _measure_reproducibility(model, data.matrix.X, job, progress)
        with write_errors(job.output):
            about = {**job.about, **outcome}
            return write_results(model, data, about, folder, write, progress, job.write)


def _read(model: ROCCO, job: FitJob, progress: CommandProgress) -> EncodedInput:
    """Read the matrix of a job; a model of an encoded table does not prepare it."""
    names = job.annotate.names
    data = read_or_encode(job.source, job.read, job.encode, job.prepare, progress, names)
    if data.encoding:
        model.set_params(prepare=None)
    elif model.prepare == "auto" and model.variant != "paper" and data.holds_logarithms:
        model.set_params(prepare=LOGARITHMS)
    return annotated(data, job.annotate)


def _measure_reproducibility(
    model: ROCCO, X: MatrixLike, job: FitJob, progress: CommandProgress
) -> Summary:
    """Measure whether the clusters are found again, if the job asks for it, and say so."""
    if job.n_repeats is None:
        return {}
    observer = progress.of_fit(job.observer)
    try:
        found = reproducibility(
            model, X, job.n_repeats, random_state=job.model.seed, observer=observer
        )
    except ValueError as error:
        reason = one_line(str(error))
        raise MatrixError(f"{job.source}: --reproducibility: {reason}") from error
    if not job.quiet:
        say(found.summary())
    return {"reproducibility": found.to_dict()}


def _fit_in_chunks(model: ROCCO, job: FitJob, progress: CommandProgress) -> Summary:
    """Fit a matrix in chunks of rows, and write labels, block means and summary."""
    matrix, encoding = _open_chunks(model, job, progress)
    progress.of_matrix(*matrix.shape)
    write_labels = row_label_writer(
        job.write.output_format.value, matrix.shape[0], job.write.escape
    )
    # Labels may lie on the cluster, so it must run until they are written.
    with (
        _lost_cluster_reported(),
        claimed_stage(job.output) as folder,
        _stoppable(job) as checkpoint,
        moved_when_complete(folder, job.output),
        start_cluster(job.run.cluster, _memory_limit(job.run)) as client,
    ):
        n_workers = 1 if client is None else len(client.nthreads())
        chunks = matrix if isinstance(matrix, PartitionedMatrix) else _split(matrix, n_workers)
        if not job.quiet:
            say_all([*chunks.notes, NOT_WRITTEN])
        outcome = _fit_job(model, chunks, job, checkpoint, progress)
        about = {"notes": list(chunks.notes), "shape": list(chunks.shape)}
        if client is not None:
            about["worker_peak_memory"] = client.run(peak_memory)
        summary = {**job.about, **outcome, **about, **_summarise_model(model), **encoding}
        labelled = _chunked_rows(model, chunks)
        with write_errors(job.output), progress.stage("tables"):
            files = [write_labels(folder, labelled)]
            files += _write_small_tables(folder, model, chunks, job)
            _write_summary(folder, summary, [*files, SUMMARY_FILE])
    return summary


def _chunked_rows(model: Any, chunks: PartitionedMatrix) -> ChunkedRows:
    """Return the labels of rows, which are Dask arrays."""
    rows = model.row_labels_, model.row_membership_
    return ChunkedRows(*rows, chunks.row_names, model.row_stability_)


def _open_chunks(
    model: ROCCO, job: FitJob, progress: CommandProgress
) -> tuple[PartitionedMatrix | Matrix, Summary]:
    """Open a matrix in many files without reading it, or read a single file.

    Returns it with what the summary says about its encoding.
    """
    if job.n_repeats is not None:
        raise MatrixError(
            "--reproducibility needs the whole matrix in memory: leave it out, or fit a sample of "
            "the rows"
        )
    if job.annotate != AnnotateOptions():
        raise MatrixError(
            "--annotate and --annotate-from need the whole matrix in memory: leave them out, and "
            "compare the labels with pyrocco.association"
        )
    if job.write.figure_formats != _DEFAULTS.figure_formats:
        raise MatrixError("--format has no effect on a matrix in chunks: no heat map is written")
    if job.write.output_format is OutputFormat.h5ad:
        raise MatrixError("--output-format h5ad needs the whole matrix: choose csv or parquet")
    if not is_partitioned(job.source):
        data = _read(model, job, progress)
        return data.matrix, data.about
    default = vars(FitReadOptions())
    given = [name for name, value in vars(job.read).items() if value != default[name]]
    given += [] if job.encode.encode is None else ["encode"]
    for option in given:
        raise MatrixError(
            f"{job.source}: --{option.replace('_', '-')} has no effect on a matrix in many files, "
            "which is never read as a whole: write the files as they should be fitted"
        )
    return open_partitioned(job.source), {"encoding": {}}


def _split(matrix: Matrix, n_workers: int) -> PartitionedMatrix:
    """Split a matrix into chunks of rows, at least one per worker."""
    X, names = split_rows(matrix.X, matrix.row_names, at_least=n_workers)
    return PartitionedMatrix(X, matrix.column_names, names, matrix.notes)


def _write_small_tables(
    folder: Path, model: ROCCO, chunks: PartitionedMatrix, job: FitJob
) -> list[str]:
    """Write the tables of columns and of blocks, which fit in memory."""
    ending = job.write.output_format.value
    columns = label_table(
        chunks.column_names,
        model.column_labels_,
        model.column_membership_,
        model.column_stability_,
    )
    tables = {"column_labels": columns, "block_means": means_table(model.block_means_)}
    for name, table in tables.items():
        write_table(folder / f"{name}.{ending}", pd.DataFrame(table), job.write.escape)
    return [f"{name}.{ending}" for name in tables]


@contextmanager
def _lost_cluster_reported() -> Iterator[None]:
    try:
        yield
    except ClusterLostError as error:
        raise NoClusterError(str(error)) from error


@contextmanager
def _stoppable(job: FitJob) -> Iterator[Checkpoint]:
    """Keep a checkpoint in the folder of the results while a fit runs, and keep it if stopped.

    SIGTERM, with which batch systems end a job, stops the fit as Ctrl-C does.
    """
    path, resume = job.output / CHECKPOINT_FILE, job.run.resume
    if os.path.lexists(path) and not path.is_file():
        raise OutputError(f"{path}: is in the way, and is not a file: move it")
    if path.exists() and not resume:
        say(
            f"warning: {path} is left from a fit that was stopped and could be continued with "
            "--resume; this fit starts from the beginning and replaces it"
        )
    if resume and not path.exists():
        say(f"{path} does not exist, so this fit starts from the beginning")
    options = {"resume": resume, "replace": job.write.force}
    try:
        terminated = signal_handled(signal.SIGTERM, signal.default_int_handler)
        with terminated, checkpoint_to(path, **options) as checkpoint:
            yield checkpoint
    except KeyboardInterrupt as error:
        saved = f", but {_about_saved(path)}" if path.exists() else ""
        raise StoppedError(f"stopped; no results were written{saved}") from error
    except (OutputError, MatrixError) as error:
        if not (checkpoint.is_used and path.exists()):
            raise
        raise type(error)(f"{error}; {_about_saved(path)}") from error


def _about_saved(path: Path) -> str:
    return f"the work so far is in {path}: the same command with --resume continues from there"


def _fit_job(
    model: ROCCO,
    matrix: Matrix | PartitionedMatrix,
    job: FitJob,
    checkpoint: Checkpoint,
    progress: CommandProgress,
) -> Summary:
    observer = progress.of_fit(job.observer)
    return fit_model(model, matrix, str(job.source), observer, checkpoint)


def fit_model(
    model: ROCCO,
    matrix: Matrix | PartitionedMatrix,
    source: str,
    observer: Observer | None = None,
    checkpoint: Checkpoint | None = None,
) -> Summary:
    """Fit a model, print its warnings, and return them with the duration in seconds."""
    started = time.perf_counter()
    with warnings_as_lines() as warned:
        try:
            model.fit(matrix.X, checkpoint=checkpoint, observer=observer)
        except MatrixError:
            raise  # a chunk of the matrix could not be read: the message names its file
        except ValueError as error:
            reason = one_line(str(error))
            raise MatrixError(f"{source}: cannot be co-clustered: {reason}") from error
    return {"seconds": round(time.perf_counter() - started, 3), "warnings": warned}


def write_results(
    model: ROCCO,
    data: EncodedInput,
    about: Summary,
    folder: Path,
    write_tables: Callable[[Path, Results], list[str]],
    progress: CommandProgress,
    options: ResultOptions = _DEFAULTS,
) -> Summary:
    """Write labels, block means, summary, heat map, model and report of a fit.

    The summary begins with `about`. Returns the summary.
    """
    matrix = data.matrix
    of_matrix = {
        "notes": list(matrix.notes),
        "axis_names": list(matrix.axis_names),
        "shape": list(matrix.shape),
        "density": matrix.density,
        "missing": matrix.n_missing,
    }
    summary = {**about, **of_matrix, **_summarise_model(model), **data.about}
    names: dict[str, Any] = {"row_names": matrix.row_names, "column_names": matrix.column_names}
    known: dict[str, Any] = {
        "row_annotations": matrix.row_annotations,
        "column_annotations": matrix.column_annotations,
    }
    with progress.stage("tables"):
        files = write_tables(folder, _results(model, matrix, summary, options))
        ending = "parquet" if options.output_format is OutputFormat.parquet else "csv"
        files += write_associations(folder, model, matrix, ending, options.escape)
    with progress.stage("figure"):
        pictures = _draw(model, matrix, folder, options.formats)
    with progress.stage("model"):
        about_model = {**names, **about_annotations(matrix), "encoding": data.encoding}
        model.save(folder / MODEL_FILE, about_model)
    if not options.no_report:
        report = {**names, **known, "axis_names": matrix.axis_names, "summary": summary}
        with progress.stage("report"):
            write_report(folder / REPORT_FILE, model, matrix.X, **report)
    files += [SUMMARY_FILE, *pictures, MODEL_FILE]
    files += [] if options.no_report else [REPORT_FILE]
    _write_summary(folder, summary, [*files, MATRIX_FILE] if "matrix" in about else files)
    return summary


def _results(model: ROCCO, matrix: Matrix, summary: Summary, options: ResultOptions) -> Results:
    explanation = model.explain(column_names=matrix.column_names)
    return Results(
        matrix,
        SideClusters(model.row_labels_, model.row_membership_, model.row_stability_),
        SideClusters(model.column_labels_, model.column_membership_, model.column_stability_),
        model.block_means_,
        {str(name): explanation[name] for name in explanation},
        summary,
        options.escape,
    )


def _draw(model: ROCCO, matrix: Matrix, folder: Path, formats: Sequence[str]) -> list[str]:
    """Save the picture of a fit in every format, and return the names of the files."""
    picture = clustermap(
        matrix,
        model=model,
        row_annotations=matrix.row_annotations,
        column_annotations=matrix.column_annotations,
    )
    files = picture_files(formats)
    for file in files:
        picture.save(folder / file, dpi=200)
    return files


def _write_summary(folder: Path, summary: Summary, files: list[str]) -> None:
    summary["files"] = files
    text = json.dumps(summary, indent=2) + "\n"
    (folder / SUMMARY_FILE).write_text(text, encoding="utf-8")


def _summarise_model(model: ROCCO) -> Summary:
    """Return the facts about a fitted model for ``summary.json``; labels may be Dask arrays."""
    parameters = model.get_params()
    parameters.pop("verbose")
    if isinstance(parameters["prepare"], Cells):
        parameters["prepare"] = str(parameters["prepare"])
    return {
        "n_row_clusters": int(model.n_row_clusters_),
        "n_column_clusters": int(model.n_column_clusters_),
        "row_cluster_sizes": _sizes(model.row_labels_, model.n_row_clusters_),
        "column_cluster_sizes": _sizes(model.column_labels_, model.n_column_clusters_),
        "mean_row_membership": round(float(model.row_membership_.mean()), 4),
        "mean_column_membership": round(float(model.column_membership_.mean()), 4),
        "cells": model.cells_,
        "preparation": model.preparation_,
        "structure": model.structure_,
        "outlier_cells": n_outlier_cells(model.cell_weights_),
        "converged": bool(model.converged_) if model.has_representation_ else True,
        "iterations": int(model.n_iter_) if model.has_representation_ else 0,
        "parameters": parameters,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
        },
    }


def _sizes(labels: Labels, n_clusters: int) -> list[int]:
    sizes: list[int] = np.asarray(np.bincount(labels, minlength=n_clusters)).tolist()
    return sizes
