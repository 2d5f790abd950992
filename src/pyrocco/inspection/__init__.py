"""Looking at a matrix before it is grouped: what its values are, what it needs, what it costs."""

from pyrocco.inspection.advice import Advice, advise
from pyrocco.inspection.cost import Cost, estimate_cost, machine_memory
from pyrocco.inspection.facts import Facts, gather_facts
from pyrocco.inspection.names import look_like_genes, look_like_words

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
