"""``pyrocco inspect``: look at a matrix before it is co-clustered."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import typer

from pyrocco.cli.groups import grouped
from pyrocco.cli.messages import tell
from pyrocco.cli.options import AsJson
from pyrocco.cli.preparing import say_advice
from pyrocco.cli.reading import MatrixPath, Reading
from pyrocco.inspection import (
    Cost,
    Facts,
    advise,
    estimate_cost,
    gather_facts,
    machine_memory,
)

__all__ = ["inspect"]


@grouped
def inspect(matrix: MatrixPath, reading: Reading, as_json: AsJson = False) -> None:
    """Say what MATRIX holds, which preparation it seems to need and what a fit would take.

    Nothing is written.
    """
    data = reading.read(matrix, quiet=as_json)
    facts = gather_facts(data.X)
    advice = advise(facts, data.row_names, data.column_names)
    cost = estimate_cost(*data.shape, data.X.dtype.itemsize)
    if as_json:
        parts: dict[str, Any] = {"facts": asdict(facts), "advice": asdict(advice)}
        about = {"input": str(matrix), "notes": data.notes, **parts, "cost": asdict(cost)}
        typer.echo(json.dumps(about, indent=2))
        return
    for line in (*data.notes, *_about(facts), say_advice(advice), *_about_cost(cost)):
        tell(line)


def _about(facts: Facts) -> list[str]:
    whole = "whole numbers" if facts.is_whole else "numbers"
    mean = 0.0 if abs(facts.mean) < 1e-12 * facts.maximum else facts.mean  # rounding
    return [
        f"{100 * facts.density:.3g} % of the cells hold a number other than 0.",
        f"Values are {whole} from {facts.minimum:g} to {facts.maximum:g}, mean {mean:.4g}.",
        *(["Missing cells need not be filled in: a fit leaves them out."] * bool(facts.n_missing)),
    ]


def _about_cost(cost: Cost) -> list[str]:
    lines = [f"A fit takes {cost}, give or take a factor of three."]
    there = machine_memory()
    if there is not None and cost.memory > there:
        lines.append(
            f"This machine has only {there / 1e9:.1f} GB: leave out rows or columns that vary "
            "little, or use a larger machine."
        )
    return lines
