"""Block models: the blocks of a matrix, and a gradient as the alternative."""

from pyrocco.assign.block_model.counts import CountData, CountFit
from pyrocco.assign.block_model.fit import (
    BlockFit,
    Data,
    extend_fit,
    fitted_labels,
    sweep,
    variational_fit,
)
from pyrocco.assign.block_model.gaussian import BlockData
from pyrocco.assign.block_model.gradient import fit_gradient, low_rank_evidence
from pyrocco.assign.block_model.levels import fit_levels, has_two_values
from pyrocco.assign.block_model.products import Pair
from pyrocco.assign.block_model.search import best_block_fit, split_clusters
from pyrocco.assign.block_model.uneven import noise_evidence, noisy_part

__all__ = [
    "BlockData",
    "BlockFit",
    "CountData",
    "CountFit",
    "Data",
    "Pair",
    "best_block_fit",
    "extend_fit",
    "fit_gradient",
    "fit_levels",
    "fitted_labels",
    "has_two_values",
    "low_rank_evidence",
    "noise_evidence",
    "noisy_part",
    "split_clusters",
    "sweep",
    "variational_fit",
]
