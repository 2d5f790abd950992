"""The command line: six commands, each of which reads, calls the library and writes.

The commands are declared here, and carried out by the modules named after them. Those modules
import NumPy, scikit-learn and matplotlib, so they are imported only when a command runs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyrocco.cli.options import (
    AnnotateOptions,
    AsJson,
    EncodeOptions,
    FitReadOptions,
    Force,
    JsonProgress,
    LargeMatrixPath,
    MatrixPath,
    ModelOptions,
    OptionalFolder,
    OutputFolder,
    PrepareOptions,
    Quiet,
    ReadOptions,
    Repeats,
    ResultOptions,
    RunOptions,
    Seed,
    WriteOptions,
    expand_groups,
)
from pyrocco.cli.process import quiet_libraries, repair_streams, temporary_files
from pyrocco.cli.terminal import StoppedError, close_output, flush_output, say
from pyrocco.texts import one_line

if TYPE_CHECKING:
    from pyrocco.progress import Observer

__all__ = ["app", "main"]

# typer does not export this class, and contains its own copy of click since version 0.20.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

# Arguments of the commands that cannot do without, for those who forgot them.
_EXAMPLES = {
    "pyrocco fit": "table.csv",
    "pyrocco inspect": "table.csv",
    "pyrocco predict": "table-pyrocco new.csv",
    "pyrocco report": "table-pyrocco",
}

STOPPED, UNEXPECTED = 130, 70
_NOT_ENOUGH = (
    "this machine has too little memory; pyrocco inspect says how much a fit needs (a damaged "
    "file may also claim to be larger than it is)"
)
# If this variable of the environment is set, unexpected errors are shown with their traceback.
_TRACEBACK = "PYROCCO_TRACEBACK"

app = typer.Typer(
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
    """Cluster the rows and the columns of a matrix at the same time (co-clustering).

    To begin: pyrocco fit table.csv, or pyrocco demo for an example.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
@expand_groups
def fit(  # noqa: PLR0913 - one group of options each
    context: typer.Context,
    matrix: LargeMatrixPath,
    model: ModelOptions,
    read: FitReadOptions,
    encode: EncodeOptions,
    annotate: AnnotateOptions,
    prepare: PrepareOptions,
    *,
    output: OptionalFolder = None,
    run: RunOptions,
    write: ResultOptions,
    reproducibility: Repeats = None,
    as_json: AsJson = False,
    json_progress: JsonProgress = False,
    quiet: Quiet = False,
) -> None:
    """Cluster the rows and the columns of MATRIX.

    Writes row_labels.csv, column_labels.csv, block_means.csv, explanation.csv,
    summary.json, heatmap.png, model.pyrocco, and report.html to explore the
    clusters; with annotations also annotations.csv and cross_tables.csv.
    Results of an earlier fit of MATRIX are replaced, other files only with
    --force.
    """
    from pyrocco.io.result_folder import default_folder

    output = output or default_folder(matrix)
    with temporary_files(output):
        from pyrocco.cli.fit_command import FitJob, fit_file

        fit_file(
            FitJob(
                source=matrix,
                output=output,
                model=model,
                read=read,
                encode=encode,
                annotate=annotate,
                prepare=prepare,
                run=run,
                write=write,
                n_repeats=reproducibility,
                quiet=quiet,
                as_json=as_json,
                json_progress=json_progress,
                observer=context.obj,
            )
        )


@app.command()
@expand_groups
def inspect(
    matrix: MatrixPath,
    read: FitReadOptions,
    encode: EncodeOptions,
    annotate: AnnotateOptions,
    as_json: AsJson = False,
) -> None:
    """Describe MATRIX, how a fit prepares it and what the fit costs.

    Nothing is written.
    """
    from pyrocco.cli.inspect_command import InspectJob, inspect_file

    inspect_file(InspectJob(matrix, read, encode, annotate, as_json))


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
    write: WriteOptions,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File for the labels, .csv or .parquet.", metavar="OUT"
        ),
    ] = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="NEW contains new columns instead of new rows.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Assign new rows or columns to the clusters of MODEL.

    Prints a table or writes it to OUT: name, label, membership (probability
    of the label under the model), distance, and whether it is far from every cluster.
    Columns are matched by name, and values are prepared as for the fit.
    """
    from pyrocco.cli.predict_command import PredictJob, predict_file

    predict_file(
        PredictJob(
            model=model,
            source=new,
            read=read,
            output=output,
            columns=columns,
            write=write,
            as_json=as_json,
            quiet=quiet,
        )
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
    with temporary_files(output):
        from pyrocco.cli.report_command import regenerate_report

        regenerate_report(output, matrix, quiet)


@app.command()
def demo(
    context: typer.Context,
    output: OutputFolder = Path("demo-output"),
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Run an example: cluster breast tumours and their measurements. Needs no download."""
    with temporary_files(output):
        from pyrocco.cli.demo_command import run_demo

        run_demo(output, seed, force, quiet, context.obj)


@app.command("app")
@expand_groups
def local_app(
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Port of 127.0.0.1 to listen on; by default any free one.",
            show_default=False,
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, but open no browser.")
    ] = False,
    max_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Largest file that the page accepts.")
    ] = "200MB",
) -> None:
    """Cluster tables in the browser: a page on this computer, for use without a terminal.

    Nothing leaves this computer. Files are kept in a temporary folder, which
    is removed at the end.
    """
    from pyrocco.cli.app_command import serve_app

    serve_app(port, not no_browser, max_size)


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
        wrong), 130 if stopped, 70 for an unexpected error, which is a bug in pyrocco.

    Examples
    --------
    >>> main(["--version"])
    pyrocco ...
    0
    """
    if arguments is None:
        repair_streams()
        quiet_libraries()
    words = None if arguments is None else list(arguments)
    try:
        return _run(words, observer)
    except BrokenPipeError:
        return close_output()  # the reader of standard output has seen enough
    except (Exception, KeyboardInterrupt) as error:
        message, code = _describe(error)
        if code == UNEXPECTED and os.environ.get(_TRACEBACK):
            raise
        say(f"pyrocco: {one_line(message)}")
        return code


def _run(words: list[str] | None, observer: Observer | None) -> int:
    code = app(args=words, prog_name="pyrocco", standalone_mode=False, obj=observer)
    if code == STOPPED:  # some versions of typer return this code after Ctrl-C
        raise KeyboardInterrupt
    flush_output()
    return int(code or 0)


def _describe(error: BaseException) -> tuple[str, int]:
    """Return what to say about an error, and the exit code."""
    if isinstance(error, UsageError):
        return _explain_usage(error), 2
    if isinstance(error, StoppedError):
        return str(error), STOPPED
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return "stopped; no results were written", STOPPED
    if isinstance(error, MemoryError):
        # The message of a planned limit says what would fit; Python's own says nothing.
        is_planned = type(error) is MemoryError and bool(error.args)
        return str(error) if is_planned else _NOT_ENOUGH, 2
    if isinstance(error, _input_errors()):
        return _explain(error), 2
    return (
        f"unexpected error ({type(error).__name__}: {error}). This is a bug in pyrocco: please "
        f"report it with the output of the same command after export {_TRACEBACK}=1",
        UNEXPECTED,
    )


def _explain_usage(error: Any) -> str:
    """Return what is wrong with the words of a command, and where they are described."""
    message = one_line(error.format_message()).replace("Value error, ", "").rstrip(".")
    command = "pyrocco" if error.ctx is None else error.ctx.command_path
    if message.startswith("Missing argument") and command in _EXAMPLES:
        message = f"{message}, as in {command} {_EXAMPLES[command]}"
    return f"{message} (see {command} --help)"


def _explain(error: BaseException) -> str:
    """Return the message of an error; errors of the system are put into a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file'}: {error.strerror}"
    return str(error)


def _input_errors() -> tuple[type[Exception], ...]:
    """Errors whose message tells the user what to do; imported only after an error."""
    from pyrocco.checkpoint import CheckpointError
    from pyrocco.io import MatrixError, MissingExtraError, ModelFileError

    return (CheckpointError, MatrixError, MissingExtraError, ModelFileError, OSError)
