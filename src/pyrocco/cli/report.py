"""``pyrocco report``: write the page about a fit again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pyrocco.cli.messages import tell
from pyrocco.cli.options import Quiet
from pyrocco.cli.preparing import Preparing
from pyrocco.cli.reading import Reading
from pyrocco.cli.results import MODEL_FILE, REPORT_FILE
from pyrocco.estimators.loading import load_with_about
from pyrocco.io import Matrix, MatrixError, staged_folder
from pyrocco.report import write_report

__all__ = ["report"]


def report(
    output: Annotated[
        Path, typer.Argument(help="Folder that pyrocco fit or demo wrote.", metavar="OUT")
    ],
    matrix: Annotated[
        Path | None,
        typer.Option(help="The matrix of the fit, if it has moved since.", metavar="FILE"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write report.html of the fit in OUT again, from its model and its matrix."""
    summary = _summary(output)
    model, about = load_with_about(output / MODEL_FILE)
    names = {side: tuple(about[side]) for side in ("row_names", "column_names")}
    path = matrix or _recorded(output, summary)
    data = _read(path, summary, quiet)
    if (data.row_names, data.column_names) != (names["row_names"], names["column_names"]):
        raise MatrixError(
            f"{path}: its rows and columns are not those of the fit in {output}: name the file "
            "of the fit with --matrix, or fit again"
        )
    with staged_folder(output) as folder:
        write_report(folder / REPORT_FILE, model, data.X, **names, summary=summary)
    if not quiet:
        tell(f"Open {output / REPORT_FILE} in a browser.")


def _summary(output: Path) -> dict[str, Any]:
    path = output / "summary.json"
    if not path.is_file():
        raise MatrixError(f"{output}: holds no results of pyrocco fit (there is no summary.json)")
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MatrixError(f"{path}: is not what pyrocco fit wrote: fit again") from error
    return summary


def _recorded(output: Path, summary: dict[str, Any]) -> Path:
    """Where the matrix was when it was fitted; the demo puts it beside its results."""
    path = output / summary["matrix"] if "matrix" in summary else Path(summary["input"])
    if not path.exists():
        raise MatrixError(
            f"{path}: the matrix of this fit is not there any more: say where it is with "
            "--matrix FILE"
        )
    return path


def _read(path: Path, summary: dict[str, Any], quiet: bool) -> Matrix:
    """Read and prepare a matrix as the fit did."""
    reading = Reading.again(summary["reading"]) if "reading" in summary else Reading()
    # A matrix that is kept beside the results is kept as it was grouped.
    steps = () if "matrix" in summary else summary.get("prepared", ())
    preparing = Preparing(**dict.fromkeys(steps, True))
    return preparing.apply(reading.read(path, quiet), path)
