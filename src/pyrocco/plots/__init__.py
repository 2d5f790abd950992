"""Pictures of matrices and fits: functions take arrays and return matplotlib Axes or Figures."""

from pyrocco.plots.block_means import plot_block_means
from pyrocco.plots.block_noise import plot_block_noise
from pyrocco.plots.confidence import plot_confidence
from pyrocco.plots.convergence import plot_convergence
from pyrocco.plots.matrix import before_and_after, plot_biclusters, plot_matrix
from pyrocco.plots.save import save_figure
from pyrocco.plots.tree import plot_tree

__all__ = [
    "before_and_after",
    "plot_biclusters",
    "plot_block_means",
    "plot_block_noise",
    "plot_confidence",
    "plot_convergence",
    "plot_matrix",
    "plot_tree",
    "save_figure",
]
