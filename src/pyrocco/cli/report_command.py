"""``pyrocco report``: regenerate the report of a fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyrocco.cli.encoded_input import read_as_encoded
from pyrocco.cli.fitted_model import FittedModel, load_fitted
from pyrocco.cli.input import read_file
from pyrocco.cli.options import Absent, FitReadOptions, Layout
from pyrocco.cli.progress_bar import CommandProgress, bar_only
from pyrocco.cli.terminal import tell
from pyrocco.io import Matrix, MatrixError, staged_folder
from pyrocco.io.fields import (
    DictOf,
    FieldError,
    Fields,
    Integer,
    ListOf,
    Number,
    Text,
    Texts,
    Truth,
    optional,
)
from pyrocco.io.result_folder import MODEL_FILE, REPORT_FILE, SUMMARY_FILE, check_not_input
from pyrocco.io.unfinished import write_errors
from pyrocco.report import write_report

__all__ = ["regenerate_report"]

_READING = Fields(
    transpose=Truth(),
    layer=optional(Text()),
    raw=Truth(),
    sheet=optional(Text()),
    layout=Text(tuple(Layout)),
    absent=optional(Text(tuple(Absent))),
    row_names=optional(Text()),
    skip_rows=optional(Integer(0)),
    header=optional(Truth()),
    decimal=optional(Text()),
    keep_totals=Truth(),
    columns=optional(Text()),
    ignore=optional(Text()),
    all_optional=True,
)
_CLUSTERS = ListOf(
    Fields(
        cluster=Integer(0),
        size=Integer(1),
        found_again_other_rows=optional(Number()),
        found_again_other_columns=optional(Number()),
        null=optional(Number()),
        p_value=optional(Number()),
    )
)
_REPRODUCIBILITY = Fields(
    n_repeats=Integer(1),
    n_null=Integer(0),
    summary=Text(),
    scores=DictOf(Text(), DictOf(Text(), optional(Number()))),
    rows=_CLUSTERS,
    columns=_CLUSTERS,
)
# What the report uses of the summary of a fit.
_SUMMARY = Fields(
    input=Text(),
    matrix=Text(),
    reading=_READING,
    annotate=Texts(),
    cells=Text(),
    preparation=Text(),
    notes=Texts(),
    warnings=Texts(),
    density=Number(),
    seconds=Number(),
    reproducibility=_REPRODUCIBILITY,
    versions=DictOf(Text(), Text()),
    all_optional=True,
)


def regenerate_report(output: Path, matrix: Path | None, quiet: bool) -> None:
    """Write report.html again, from the model, the summary and the matrix of a fit."""
    summary = _read_summary(output)
    with bar_only(quiet, ["model", "reading", "report"]) as progress:
        _write_again(output, matrix, summary, progress)
    if not quiet:
        tell(f"Open {output / REPORT_FILE} in a browser.")


def _write_again(
    output: Path, matrix: Path | None, summary: dict[str, Any], progress: CommandProgress
) -> None:
    with progress.stage("model"):
        fitted = load_fitted(output / MODEL_FILE)
    path = matrix or _recorded_path(output, summary)
    with progress.stage("reading"):
        data = _read_as_fitted(path, summary, fitted, progress)
    progress.of_matrix(*data.shape)
    if (data.row_names, data.column_names) != (fitted.row_names, fitted.column_names):
        raise MatrixError(
            f"{path}: its rows and columns are not those of the fit in {output}: name the file "
            "of the fit with --matrix, or fit again"
        )
    check_not_input(output / REPORT_FILE, [path])
    writing = write_errors(output / REPORT_FILE), progress.stage("report")
    with staged_folder(output) as folder, writing[0], writing[1]:
        about = fitted.about_rows_and_columns
        write_report(folder / REPORT_FILE, fitted.model, data.X, **about, summary=summary)


def _read_summary(output: Path) -> dict[str, Any]:
    path = output / SUMMARY_FILE
    if not path.is_file():
        raise MatrixError(
            f"{output}: contains no results of pyrocco fit (there is no {SUMMARY_FILE})"
        )
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(summary, dict):
            raise FieldError("it is not a dict")
        # Only what the report uses; the rest is for other programs.
        used = {key: value for key, value in summary.items() if key in _SUMMARY.table}
        _SUMMARY.check(used, {}, "")
    except (ValueError, RecursionError) as error:
        reason = f" ({error})" if isinstance(error, FieldError) else ""
        raise MatrixError(f"{path}: was not written by pyrocco fit{reason}: fit again") from error
    return summary


def _recorded_path(output: Path, summary: dict[str, Any]) -> Path:
    """Path of the matrix at the time of the fit; the demo writes it beside its results."""
    if "matrix" not in summary and "input" not in summary:
        raise MatrixError(
            f"{output / SUMMARY_FILE}: does not name the matrix of the fit: say where it is with "
            "--matrix FILE"
        )
    path = output / summary["matrix"] if "matrix" in summary else Path(summary["input"])
    if not path.exists():
        raise MatrixError(
            f"{path}: the matrix of this fit no longer exists: say where it is with --matrix FILE"
        )
    return path


def _read_as_fitted(
    path: Path, summary: dict[str, Any], fitted: FittedModel, progress: CommandProgress
) -> Matrix:
    """Read a matrix as for the fit."""
    read = _recorded_options(summary.get("reading", {}))
    if fitted.encoding:
        return read_as_encoded(path, read, fitted.encoding)
    return read_file(path, read, progress, summary.get("annotate", ()))


def _recorded_options(reading: dict[str, Any]) -> FitReadOptions:
    """Return the options of reading that the summary of a fit holds."""
    layout, absent = reading.get("layout", Layout.auto), reading.get("absent")
    choices = {"layout": Layout(layout), "absent": None if absent is None else Absent(absent)}
    return FitReadOptions(**{**reading, **choices})
