"""``pyrocco report``: regenerate the report of a fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyrocco.cli.input import prepare_matrix, read_file
from pyrocco.cli.options import PrepareOptions, ReadOptions
from pyrocco.cli.terminal import tell
from pyrocco.estimators.loading import load_with_about
from pyrocco.io import Matrix, MatrixError, staged_folder
from pyrocco.io.result_folder import MODEL_FILE, REPORT_FILE, SUMMARY_FILE, check_not_input
from pyrocco.io.unfinished import write_errors
from pyrocco.report import write_report

__all__ = ["regenerate_report"]


def regenerate_report(output: Path, matrix: Path | None, quiet: bool) -> None:
    """Write report.html again, from the model, the summary and the matrix of a fit."""
    summary = _read_summary(output)
    model, about = load_with_about(output / MODEL_FILE)
    names = {side: tuple(about[side]) for side in ("row_names", "column_names")}
    path = matrix or _recorded_path(output, summary)
    data = _read_as_fitted(path, summary, quiet)
    if (data.row_names, data.column_names) != (names["row_names"], names["column_names"]):
        raise MatrixError(
            f"{path}: its rows and columns are not those of the fit in {output}: name the file "
            "of the fit with --matrix, or fit again"
        )
    check_not_input(output / REPORT_FILE, [path])
    with staged_folder(output) as folder, write_errors(output / REPORT_FILE):
        write_report(folder / REPORT_FILE, model, data.X, **names, summary=summary)
    if not quiet:
        tell(f"Open {output / REPORT_FILE} in a browser.")


def _read_summary(output: Path) -> dict[str, Any]:
    path = output / SUMMARY_FILE
    if not path.is_file():
        raise MatrixError(
            f"{output}: contains no results of pyrocco fit (there is no {SUMMARY_FILE})"
        )
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MatrixError(f"{path}: was not written by pyrocco fit: fit again") from error
    return summary


def _recorded_path(output: Path, summary: dict[str, Any]) -> Path:
    """Path of the matrix at the time of the fit; the demo writes it beside its results."""
    path = output / summary["matrix"] if "matrix" in summary else Path(summary["input"])
    if not path.exists():
        raise MatrixError(
            f"{path}: the matrix of this fit no longer exists: say where it is with --matrix FILE"
        )
    return path


def _read_as_fitted(path: Path, summary: dict[str, Any], quiet: bool) -> Matrix:
    """Read and prepare a matrix as for the fit."""
    read = ReadOptions(**summary.get("reading", {}))
    # A matrix beside the results was written after its preparation.
    steps = () if "matrix" in summary else summary.get("prepared", ())
    prepare = PrepareOptions(**dict.fromkeys(steps, True))
    return prepare_matrix(read_file(path, read, quiet), prepare, path)[0]
