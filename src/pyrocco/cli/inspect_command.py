"""``pyrocco inspect``: describe a matrix before it is co-clustered."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from pyrocco.cells.inspection import (
    Cost,
    Facts,
    estimate_cost,
    gather_facts,
    machine_memory,
)
from pyrocco.cli.encoded_input import read_or_encode
from pyrocco.cli.input import check_some_values, describe_cells
from pyrocco.cli.options import EncodeOptions, FitReadOptions, PrepareOptions
from pyrocco.cli.progress_bar import bar_only
from pyrocco.cli.terminal import print_output, tell

__all__ = ["inspect_file"]


def inspect_file(matrix: Path, read: FitReadOptions, as_json: bool) -> None:
    """Print facts about a matrix, how a fit encodes or prepares it and what the fit costs."""
    with bar_only(as_json, ["reading"]) as progress:
        found = read_or_encode(matrix, read, EncodeOptions(), PrepareOptions(), progress)
    data = found.matrix
    check_some_values(data, matrix)
    facts, cells = gather_facts(data.X), found.cells
    cost = estimate_cost(*data.shape, data.X.dtype.itemsize)
    if as_json:
        about = {
            "input": str(matrix),
            "notes": data.notes,
            "facts": asdict(facts),
            "cells": cells.kind,
            "preparation": cells.sentence,
            "steps": list(cells.steps),
            "encoding": found.about["encoding"],
            "cost": asdict(cost),
        }
        print_output(json.dumps(about, indent=2))
        return
    for line in (
        *data.notes,
        *_describe_facts(facts),
        describe_cells(cells.kind, cells.sentence),
        *_describe_cost(cost),
    ):
        tell(line)


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
