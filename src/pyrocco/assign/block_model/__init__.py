"""Block models: the blocks of a matrix, and a gradient as the alternative."""

from pyrocco.assign.block_model.fit import (
    BlockData,
    BlockFit,
    Pair,
    extend_fit,
    sweep,
    variational_fit,
)
from pyrocco.assign.block_model.gradient import fit_gradient
from pyrocco.assign.block_model.search import best_block_fit

__all__ = [
    "BlockData",
    "BlockFit",
    "Pair",
    "best_block_fit",
    "extend_fit",
    "fit_gradient",
    "sweep",
    "variational_fit",
]
