"""Plots of matrices and fitted models, drawn with matplotlib from plain arrays."""

from pyrocco.plots.blocks import plot_block_means, plot_block_noise
from pyrocco.plots.cluster_map import ClusterMap, clustermap
from pyrocco.plots.convergence import plot_convergence
from pyrocco.plots.heatmap import before_and_after, plot_biclusters, plot_matrix
from pyrocco.plots.layout import ClusterMapStyle
from pyrocco.plots.membership import plot_confidence, plot_membership
from pyrocco.plots.style import save_figure
from pyrocco.plots.tree import plot_tree

__all__ = [
    "ClusterMap",
    "ClusterMapStyle",
    "before_and_after",
    "clustermap",
    "plot_biclusters",
    "plot_block_means",
    "plot_block_noise",
    "plot_confidence",
    "plot_convergence",
    "plot_matrix",
    "plot_membership",
    "plot_tree",
    "save_figure",
]
