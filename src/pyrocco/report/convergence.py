"""How the iterations went, as a small drawing and a table that need no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pyrocco.report.markup import table

__all__ = ["convergence"]

_WIDTH, _HEIGHT, _PAD = 640, 180, 12
_FEW = 3
_TITLES = {
    "iteration": "iteration",
    "objective": "objective",
    "solver": "solver",
    "solver_iterations": "its iterations",
    "residual": "residual",
    "seconds": "seconds",
}


def convergence(history: Sequence[Mapping[str, Any]]) -> str:
    """Draw the objective over the iterations, above a table of them.

    Parameters
    ----------
    history : sequence of mappings
        One record an iteration: `ROCCO.history_`.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> convergence([{"iteration": 1, "objective": 2.0}]).count("<tr>")
    2
    """
    if not history:
        return "<p>The method keeps no record of its iterations.</p>"
    titles = [key for key in _TITLES if key in history[0]]
    rows = [[_cell(record.get(key)) for key in titles] for record in history]
    numbers = table([_TITLES[key] for key in titles], rows, numbers=True)
    body = f'<div class="scroll">{numbers}</div>'
    if len(history) <= _FEW:
        return body
    more = f"<details><summary>All {len(history)} iterations</summary>{body}</details>"
    return _drawing([float(record["objective"]) for record in history]) + more


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _drawing(objective: list[float]) -> str:
    # An objective that falls by orders of magnitude is a corner on a linear axis.
    heights = [math.log10(y) for y in objective] if min(objective) > 0 else objective
    low, high = min(heights), max(heights)
    span = (high - low) or 1.0
    step = (_WIDTH - 2 * _PAD) / (len(heights) - 1)
    points = " ".join(
        f"{_PAD + i * step:.1f},{_PAD + (high - y) / span * (_HEIGHT - 2 * _PAD):.1f}"
        for i, y in enumerate(heights)
    )
    first, last = objective[0], objective[-1]
    words = f"The objective over {len(objective)} iterations, from {first:.4g} to {last:.4g}."
    return (
        f'<figure class="convergence"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{words}"><polyline points="{points}"/></svg>'
        f"<figcaption>{words}{' Logarithmic scale.' if heights is not objective else ''}"
        "</figcaption></figure>"
    )
