"""Block models: which blocks a matrix has, if it is made of blocks at all."""

from pyrocco.assign.blockmodel.data import BlockData, indicator
from pyrocco.assign.blockmodel.fit import BlockFit, settle, soften
from pyrocco.assign.blockmodel.gradient import fit_gradient
from pyrocco.assign.blockmodel.noise import is_contaminated, is_white, residuals
from pyrocco.assign.blockmodel.search import best_block_fit

__all__ = [
    "BlockData",
    "BlockFit",
    "best_block_fit",
    "fit_gradient",
    "indicator",
    "is_contaminated",
    "is_white",
    "residuals",
    "settle",
    "soften",
]
