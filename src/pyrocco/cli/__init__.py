"""The command line: one short file per command over library functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from pyrocco import __version__
from pyrocco.checkpoint import CheckpointError
from pyrocco.cli.demo import demo
from pyrocco.cli.fit import fit
from pyrocco.cli.inspect import inspect
from pyrocco.cli.messages import one_line, say
from pyrocco.cli.predict import predict
from pyrocco.cli.report import report
from pyrocco.cli.stopping import StoppedError
from pyrocco.io import MatrixError, MissingExtraError, ModelFileError

__all__ = ["app", "main"]

# typer has no name of its own for it, and brings its own copy of click since version 0.20.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

STOPPED = 130
_TOO_LITTLE = "this machine has too little memory; pyrocco inspect says how much is needed"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(fit)
app.command()(inspect)
app.command()(predict)
app.command()(report)
app.command()(demo)


def _print_version(wanted: bool) -> None:
    if wanted:
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
    """Groups of rows and groups of columns of a matrix (co-clustering)."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after ``pyrocco``; those of the process by default.

    Returns
    -------
    int
        Exit code: 0 done, 2 bad input (one line on standard error says what), 130 stopped.

    Examples
    --------
    >>> main(["--version"])
    pyrocco ...
    0
    """
    words = None if arguments is None else list(arguments)
    try:
        code = app(args=words, prog_name="pyrocco", standalone_mode=False)
    except (CheckpointError, MatrixError, MissingExtraError, ModelFileError, OSError) as error:
        return _fail(str(error))
    except StoppedError as error:
        return _fail(str(error), STOPPED)
    except MemoryError as error:
        # Where the fit itself says what would fit, that is better than the general advice.
        is_planned = type(error) is MemoryError and bool(error.args)
        return _fail(str(error) if is_planned else _TOO_LITTLE)
    except UsageError as error:
        return _fail(f"{error.format_message()} (pyrocco --help tells more)")  # type: ignore[attr-defined]
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    if code == STOPPED:  # how some versions of typer pass on Ctrl-C
        say("pyrocco: stopped; no results were written")
    return int(code or 0)


def _fail(message: str, code: int = 2) -> int:
    say(f"pyrocco: {one_line(message)}")
    return code
