"""Plot of the convergence of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from pyrocco._typing import Floats
from pyrocco.plots.style import BLUE, FONT_SIZE, ORANGE, VERMILION, own_axes

__all__ = ["plot_convergence"]

# With more iterations than this, points are not marked.
_FEW = 30
_STYLES = {"mu of rows": (VERMILION, "--"), "mu of columns": (ORANGE, ":")}


def plot_convergence(
    objective: Any,
    ax: Axes | None = None,
    *,
    mu_rows: ArrayLike | None = None,
    mu_columns: ArrayLike | None = None,
) -> Axes:
    """Plot the objective of every iteration and, on a second axis, the schedule of mu.

    An axis is logarithmic if all its values are positive.

    Parameters
    ----------
    objective : fitted ROCCO or array-like of shape (n_iterations,)
        A fitted model, or the objective at every iteration.
    ax : Axes, optional
        Axes to draw on; those of a new figure by default.
    mu_rows, mu_columns : array-like of shape (n_iterations,), optional
        Mu of the rows and of the columns, by default those of the model; values that are not
        finite are left out.

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
    ax = own_axes(ax)
    if hasattr(objective, "history_"):
        objective, own_rows, own_columns = (
            [record[name] for record in objective.history_]
            for name in ("objective", "mu_rows", "mu_columns")
        )
        mu_rows = own_rows if mu_rows is None else mu_rows
        mu_columns = own_columns if mu_columns is None else mu_columns
    values = np.asarray(objective, dtype=float)
    _draw(ax, values, "objective", BLUE, "-")
    ax.set_xlabel("iteration", fontsize=FONT_SIZE)
    ax.set_ylabel("objective", fontsize=FONT_SIZE, color=BLUE)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.tick_params(labelsize=FONT_SIZE)
    _draw_schedules(ax, {"mu of rows": mu_rows, "mu of columns": mu_columns})
    return ax


def _draw_schedules(ax: Axes, schedules: dict[str, ArrayLike | None]) -> None:
    """Plot the schedules that are given and finite, with a legend."""
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


def _draw(ax: Axes, values: Floats, name: str, colour: str, dashes: str) -> None:
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
