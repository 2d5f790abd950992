"""``pyrocco fit``: read a matrix, co-cluster it, write the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pyrocco import ROCCO
from pyrocco.cli.groups import grouped
from pyrocco.cli.job import Job
from pyrocco.cli.messages import count, say_all, tell
from pyrocco.cli.modelling import Modelling
from pyrocco.cli.options import AsJson, OutputFormat, Quiet
from pyrocco.cli.preparing import Preparing, say_advice
from pyrocco.cli.progress import fitting_bars
from pyrocco.cli.reading import LargeMatrixPath, Reading
from pyrocco.cli.results import fit_and_write
from pyrocco.cli.running import Running
from pyrocco.cli.sharded import fit_in_blocks
from pyrocco.cli.stopping import stoppable
from pyrocco.inspection import advise, gather_facts
from pyrocco.io import result_writer, staged_folder

__all__ = ["fit"]


@grouped
def fit(
    matrix: LargeMatrixPath,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the results.", metavar="OUT")
    ],
    modelling: Modelling,
    reading: Reading,
    preparing: Preparing,
    running: Running,
    *,
    output_format: Annotated[
        OutputFormat, typer.Option(help="Labels and block means as CSV, Parquet or AnnData.")
    ] = OutputFormat.csv,
    no_report: Annotated[bool, typer.Option("--no-report", help="Leave out report.html.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find groups of rows and groups of columns of MATRIX.

    Writes row_labels.csv, column_labels.csv, block_means.csv, summary.json, heatmap.png,
    model.pyrocco and report.html, the page to look at.
    """
    running.check()
    job = Job(matrix, output, output_format, not no_report, quiet, as_json)
    model = modelling.estimator(quiet)
    running.limit_estimator(model)
    fit_job = fit_in_blocks if running.in_blocks(matrix) else _fit_whole
    summary = fit_job(model, job, reading, preparing, running)
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    elif not quiet:
        rows = count(model.n_row_clusters_, "cluster")
        columns = count(model.n_column_clusters_, "cluster")
        tell(f"Found {rows} of rows and {columns} of columns.")
        tell(f"Results are in {output}: {', '.join(summary['files'])}")


def _fit_whole(
    model: ROCCO, job: Job, reading: Reading, preparing: Preparing, running: Running
) -> dict[str, Any]:
    """Fit a matrix that is in memory, and write all there is to say about it."""
    writer = result_writer(job.form.value)
    data = reading.read(job.source, job.quiet)
    advice = advise(gather_facts(data.X), data.row_names, data.column_names)
    prepared, preparation = preparing.learn(data, job.source)
    with stoppable(job.output, running.resume), staged_folder(job.output) as folder:
        if not job.quiet:
            said = [] if preparing.names else [say_advice(advice)]
            say_all([*prepared.notes, *said])
        about = {
            "input": str(job.source),
            "reading": reading.options,
            "prepared": preparing.names,
            "advice": vars(advice),
        }
        with fitting_bars(job.hide_bars):
            return fit_and_write(
                model,
                prepared,
                about,
                folder,
                writer,
                report=job.report,
                preparation=preparation,
            )
