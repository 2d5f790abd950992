"""The command line: five commands, each of which reads, calls the library and writes.

The commands are declared here, and carried out by the modules named after them. Those modules
import NumPy, scikit-learn and matplotlib, so they are imported only when a command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pyrocco.cli.options import (
    AsJson,
    LargeMatrixPath,
    MatrixPath,
    ModelOptions,
    OutputFolder,
    OutputFormat,
    PrepareOptions,
    Quiet,
    ReadOptions,
    RunOptions,
    Seed,
    expand_groups,
)
from pyrocco.cli.terminal import StoppedError, one_line, say

if TYPE_CHECKING:
    from pyrocco.progress import Observer

__all__ = ["app", "main"]

# typer does not export this class, and contains its own copy of click since version 0.20.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

STOPPED = 130
_NOT_ENOUGH = "this machine has too little memory; pyrocco inspect says how much is needed"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pyrocco import __version__

        typer.echo(f"pyrocco {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def pyrocco(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Cluster the rows and the columns of a matrix at the same time (co-clustering)."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
@expand_groups
def fit(
    context: typer.Context,
    matrix: LargeMatrixPath,
    output: OutputFolder,
    model: ModelOptions,
    read: ReadOptions,
    prepare: PrepareOptions,
    run: RunOptions,
    *,
    output_format: Annotated[
        OutputFormat, typer.Option(help="File format of labels and block means.")
    ] = OutputFormat.csv,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Do not write report.html.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cluster the rows and the columns of MATRIX.

    Writes row_labels.csv, column_labels.csv, block_means.csv, summary.json,
    heatmap.png, model.pyrocco, and report.html to explore the clusters.
    """
    from pyrocco.cli.fit_command import FitJob, fit_file

    fit_file(
        FitJob(
            source=matrix,
            output=output,
            model=model,
            read=read,
            prepare=prepare,
            run=run,
            output_format=output_format,
            report=not no_report,
            quiet=quiet,
            as_json=as_json,
            observer=context.obj,
        )
    )


@app.command()
@expand_groups
def inspect(matrix: MatrixPath, read: ReadOptions, as_json: AsJson = False) -> None:
    """Describe MATRIX, recommend a preparation and estimate what a fit costs.

    Nothing is written.
    """
    from pyrocco.cli.inspect_command import inspect_file

    inspect_file(matrix, read, as_json)


@app.command()
@expand_groups
def predict(
    model: Annotated[
        Path,
        typer.Argument(help="model.pyrocco of a fit, or the folder it is in.", metavar="MODEL"),
    ],
    new: Annotated[
        Path, typer.Argument(help="New rows, in any format that fit reads.", metavar="NEW")
    ],
    read: ReadOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File for the labels, .csv or .parquet.", metavar="OUT"
        ),
    ] = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="NEW contains new columns instead of new rows.")
    ] = False,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Do not prepare NEW: its values are prepared already.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Assign new rows or columns to the clusters of MODEL.

    Prints a table or writes it to OUT: name, label, membership (probability
    of the label), distance, and whether it is far from every cluster.
    Columns are matched by name, and values are prepared as for the fit.
    """
    from pyrocco.cli.predict_command import predict_file

    predict_file(
        model, new, read, output, columns=columns, as_is=as_is, as_json=as_json, quiet=quiet
    )


@app.command()
def report(
    output: Annotated[
        Path, typer.Argument(help="Folder that pyrocco fit or demo wrote.", metavar="OUT")
    ],
    matrix: Annotated[
        Path | None,
        typer.Option(help="File of the matrix, if it was moved after the fit.", metavar="FILE"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Regenerate report.html for the results in OUT."""
    from pyrocco.cli.report_command import regenerate_report

    regenerate_report(output, matrix, quiet)


@app.command()
def demo(
    context: typer.Context,
    output: OutputFolder = Path("demo-output"),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Run an example: cluster breast tumours and their measurements. Needs no download."""
    from pyrocco.cli.demo_command import run_demo

    run_demo(output, seed, quiet, context.obj)


def main(arguments: Sequence[str] | None = None, observer: Observer | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after ``pyrocco``; those of the process by default.
    observer : Observer, optional
        Observes the fit of ``fit`` or ``demo``: see `pyrocco.progress.Observer`.

    Returns
    -------
    int
        Exit code: 0 for success, 2 for bad input (one line on standard error says what is
        wrong), 130 if stopped.

    Examples
    --------
    >>> main(["--version"])
    pyrocco ...
    0
    """
    words = None if arguments is None else list(arguments)
    try:
        code = app(args=words, prog_name="pyrocco", standalone_mode=False, obj=observer)
    except UsageError as error:
        return _fail(f"{error.format_message()} (see pyrocco --help)")  # type: ignore[attr-defined]
    except StoppedError as error:
        return _fail(str(error), STOPPED)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except MemoryError as error:
        # The message of a planned limit says what would fit; Python's own says nothing.
        is_planned = type(error) is MemoryError and bool(error.args)
        return _fail(str(error) if is_planned else _NOT_ENOUGH)
    except _input_errors() as error:
        return _fail(str(error))
    if code == STOPPED:  # some versions of typer return this code after Ctrl-C
        say("pyrocco: stopped; no results were written")
    return int(code or 0)


def _input_errors() -> tuple[type[Exception], ...]:
    """Errors whose message tells the user what to do; imported only after an error."""
    from pyrocco.checkpoint import CheckpointError
    from pyrocco.io import MatrixError, MissingExtraError, ModelFileError

    return (CheckpointError, MatrixError, MissingExtraError, ModelFileError, OSError)


def _fail(message: str, code: int = 2) -> int:
    say(f"pyrocco: {one_line(message)}")
    return code
