"""``pyrocco inspect``: describe a matrix before it is co-clustered."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco._typing import is_sparse
from pyrocco.cells.inspection import (
    Cost,
    Facts,
    estimate_cost,
    gather_facts,
    machine_memory,
)
from pyrocco.cells.kinds import Cells
from pyrocco.cli.annotations import annotated
from pyrocco.cli.encoded_input import EncodedInput, read_or_encode
from pyrocco.cli.input import check_some_values, describe_cells
from pyrocco.cli.options import AnnotateOptions, EncodeOptions, FitReadOptions, PrepareOptions
from pyrocco.cli.progress_bar import bar_only
from pyrocco.cli.terminal import print_output, tell
from pyrocco.io import Matrix
from pyrocco.io.excel import sheet_names
from pyrocco.io.read import file_format
from pyrocco.texts import Words

__all__ = ["InspectJob", "inspect_file"]

# Rows and columns that --json shows.
_SHOWN = 12
# Names of columns that --json lists.
_LISTED = 500


@dataclass(frozen=True)
class InspectJob:
    """What ``pyrocco inspect`` is asked to do."""

    source: Path
    read: FitReadOptions
    encode: EncodeOptions
    annotate: AnnotateOptions
    as_json: bool = False


def inspect_file(job: InspectJob) -> None:
    """Print facts about a matrix, how a fit encodes or prepares it and what the fit costs."""
    with bar_only(job.as_json, ["reading"]) as progress:
        found = read_or_encode(
            job.source, job.read, job.encode, PrepareOptions(), progress, job.annotate.names
        )
    found = annotated(found, job.annotate)
    data = found.matrix
    check_some_values(data, job.source)
    facts, cells = gather_facts(data.X), found.cells
    cost = estimate_cost(*data.shape, data.X.dtype.itemsize)
    if job.as_json:
        print_output(json.dumps(_about(job.source, found, facts, cells, cost), indent=2))
        return
    words = Words(*data.axis_names)
    for line in (
        *data.notes,
        *map(words.translated, _describe_facts(facts)),
        describe_cells(cells.kind, cells.sentence, is_guess=bool(cells.steps), words=words),
        *_describe_cost(cost),
    ):
        tell(line)


def _about(
    source: Path, found: EncodedInput, facts: Facts, cells: Cells, cost: Cost
) -> dict[str, Any]:
    """Return what --json prints."""
    data = found.matrix
    has_sheets = "sheet" in file_format(source).options
    return {
        "input": str(source),
        "notes": data.notes,
        "facts": asdict(facts),
        "cells": cells.kind,
        "preparation": cells.sentence,
        "steps": list(cells.steps),
        "encoding": found.about["encoding"],
        "cost": asdict(cost),
        "axis_names": list(data.axis_names),
        "first_cells": _first_cells(data),
        "columns": list(data.column_names[:_LISTED]),
        "set_aside": list(data.set_aside[:_LISTED]),
        "row_annotations": _names(data.row_annotations),
        "column_annotations": _names(data.column_annotations),
        "sheets": sheet_names(source) if has_sheets else [],
    }


def _first_cells(data: Matrix) -> dict[str, Any]:
    """Return the upper left corner of a matrix; missing values are null."""
    corner = data.X[:_SHOWN, :_SHOWN]
    values = np.asarray(corner.toarray() if is_sparse(corner) else corner, dtype=float)
    return {
        "row_names": list(data.row_names[:_SHOWN]),
        "column_names": list(data.column_names[:_SHOWN]),
        "values": [[None if np.isnan(x) else float(f"{x:.6g}") for x in row] for row in values],
    }


def _names(annotations: pd.DataFrame | None) -> list[str]:
    return [] if annotations is None else [str(name) for name in annotations.columns]


def _describe_facts(facts: Facts) -> list[str]:
    numbers = "whole numbers" if facts.is_whole else "numbers"
    mean = 0.0 if abs(facts.mean) < 1e-12 * facts.maximum else facts.mean  # rounding error
    lines = [
        f"{100 * facts.density:.3g} % of the cells hold a number other than 0.",
        f"Values are {numbers} from {facts.minimum:g} to {facts.maximum:g}, mean {mean:.4g}.",
    ]
    if facts.n_missing:
        lines.append("Missing values need not be filled in: a fit ignores them.")
    return lines


def _describe_cost(cost: Cost) -> list[str]:
    lines = [f"A fit takes {cost}, to within a factor of three."]
    available = machine_memory()
    if available is not None and cost.memory > available:
        lines.append(
            f"This machine has only {available / 1e9:.1f} GB: remove rows or columns that vary "
            "little, use --memory-limit, or use a larger machine."
        )
    return lines
