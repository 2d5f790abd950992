"""Inspect a matrix before a fit: what its values are, what they need, what a fit costs."""

from pyrocco.cells.inspection import (
    Cost,
    Facts,
    estimate_cost,
    gather_facts,
    machine_memory,
)
from pyrocco.cells.kinds import Cells, read_kind

__all__ = [
    "Cells",
    "Cost",
    "Facts",
    "estimate_cost",
    "gather_facts",
    "machine_memory",
    "read_kind",
]
