"""Pictures of matrices: functions take arrays and return matplotlib Axes or Figures."""

from pyrocco.plots.matrix import before_and_after, plot_biclusters, plot_matrix
from pyrocco.plots.save import save_figure

__all__ = ["before_and_after", "plot_biclusters", "plot_matrix", "save_figure"]
