"""``pyrocco fit``: read a matrix, co-cluster it, write the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pyrocco.cli.groups import grouped
from pyrocco.cli.messages import count, say_all, tell
from pyrocco.cli.modelling import Modelling
from pyrocco.cli.options import AsJson, OutputFormat, Quiet
from pyrocco.cli.preparing import Preparing, say_advice
from pyrocco.cli.progress import fitting_bars
from pyrocco.cli.reading import MatrixPath, Reading
from pyrocco.cli.results import fit_and_write
from pyrocco.cli.stopping import stoppable
from pyrocco.inspection import advise, gather_facts
from pyrocco.io import result_writer, staged_folder

__all__ = ["fit"]


@grouped
def fit(
    matrix: MatrixPath,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the results.", metavar="OUT")
    ],
    modelling: Modelling,
    reading: Reading,
    preparing: Preparing,
    *,
    output_format: Annotated[
        OutputFormat, typer.Option(help="Labels and block means as CSV, Parquet or AnnData.")
    ] = OutputFormat.csv,
    no_report: Annotated[bool, typer.Option("--no-report", help="Leave out report.html.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a fit that was stopped by Ctrl-C.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find groups of rows and groups of columns of MATRIX.

    Writes row_labels.csv, column_labels.csv, block_means.csv, summary.json, heatmap.png,
    model.pyrocco and report.html, the page to look at.
    """
    writer = result_writer(output_format.value)
    model = modelling.estimator(quiet)
    data = reading.read(matrix, quiet)
    advice = advise(gather_facts(data.X), data.row_names, data.column_names)
    prepared, preparation = preparing.learn(data, matrix)
    with stoppable(output, resume), staged_folder(output) as folder:
        if not quiet:
            said = [] if preparing.names else [say_advice(advice)]
            say_all([*prepared.notes, *said])
        about = {
            "input": str(matrix),
            "reading": reading.options,
            "prepared": preparing.names,
            "advice": vars(advice),
        }
        with fitting_bars(quiet or as_json):
            summary = fit_and_write(
                model,
                prepared,
                about,
                folder,
                writer,
                report=not no_report,
                preparation=preparation,
            )
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    elif not quiet:
        rows = count(model.n_row_clusters_, "cluster")
        columns = count(model.n_column_clusters_, "cluster")
        tell(f"Found {rows} of rows and {columns} of columns.")
        tell(f"Results are in {output}: {', '.join(summary['files'])}")
