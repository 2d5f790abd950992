"""Inspect a matrix before a fit: what its values are, what they need, what a fit costs."""

from pyrocco.cells.inspection import (
    Advice,
    Cost,
    Facts,
    advise,
    estimate_cost,
    gather_facts,
    look_like_genes,
    look_like_words,
    machine_memory,
)

__all__ = [
    "Advice",
    "Cost",
    "Facts",
    "advise",
    "estimate_cost",
    "gather_facts",
    "look_like_genes",
    "look_like_words",
    "machine_memory",
]
