"""How the iterations of a fit went."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pyrocco.plots.colours import BLUE, ORANGE, VERMILION
from pyrocco.plots.margins import FONT_SIZE

__all__ = ["plot_convergence"]

Array = np.ndarray[Any, Any]

# Up to this many iterations each has a mark of its own.
_FEW = 30
_STYLES = {"mu of rows": (VERMILION, "--"), "mu of columns": (ORANGE, ":")}


def plot_convergence(
    objective: Any, ax: Axes, *, mu_rows: Any = None, mu_columns: Any = None
) -> Axes:
    """Draw the objective of every iteration and, on the right, the schedule of mu.

    Axes are logarithmic where all values are above zero.

    Parameters
    ----------
    objective : array of shape (n_iterations,)
        Objective at every iteration (``[record["objective"] for record in history_]``).
    ax : Axes
        Where to draw.
    mu_rows, mu_columns : array of shape (n_iterations,), optional
        Mu of either side; values that are not finite are left out.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_convergence([9.0, 3.0, 2.0], Figure().add_subplot(), mu_rows=[4.0, 2.0, 1.0])
    >>> ax.get_yscale(), [line.get_label() for line in ax.lines]
    ('log', ['objective'])
    """
    values = np.asarray(objective, dtype=float)
    _draw(ax, values, "objective", BLUE, "-")
    ax.set_xlabel("iteration", fontsize=FONT_SIZE)
    ax.set_ylabel("objective", fontsize=FONT_SIZE, color=BLUE)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.tick_params(labelsize=FONT_SIZE)
    _draw_schedules(ax, {"mu of rows": mu_rows, "mu of columns": mu_columns})
    return ax


def _draw_schedules(ax: Axes, schedules: dict[str, Any]) -> None:
    known = {name: np.asarray(mu, float) for name, mu in schedules.items() if mu is not None}
    known = {name: mu for name, mu in known.items() if np.isfinite(mu).any()}
    if not known:
        return
    right = ax.twinx()
    for name, mu in known.items():
        _draw(right, mu, name, *_STYLES[name])
    right.set_ylabel("mu", fontsize=FONT_SIZE)
    right.tick_params(labelsize=FONT_SIZE)
    right.legend(handles=[*ax.lines, *right.lines], fontsize=FONT_SIZE, frameon=False)


def _draw(ax: Axes, values: Array, name: str, colour: str, dashes: str) -> None:
    mark = "o" if len(values) <= _FEW else ""
    iterations = np.arange(1, len(values) + 1)
    finite = np.isfinite(values)
    ax.plot(
        iterations[finite],
        values[finite],
        color=colour,
        linestyle=dashes,
        marker=mark,
        markersize=4,
        label=name,
    )
    if (values[finite] > 0).all():
        ax.set_yscale("log")
