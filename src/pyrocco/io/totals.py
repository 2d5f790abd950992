"""Leave out a last row or column that is the sum of the others, as sales tables have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Dense

__all__ = ["Wide", "without_totals"]

_NAMES = {"total", "totals", "grand total", "sum", "all", "overall", "gesamt", "gesamtergebnis"}
_NAMES |= {"summe", "insgesamt", "total général", "total general", "totale", "totaal", "suma"}
# Rounded numbers add up to this share of the total.
_ROUNDING = 1e-3
_LEAST = 2


@dataclass(frozen=True)
class Wide:
    """The values of a wide table, and names of its rows and columns, if it has any."""

    X: Dense
    row_names: Sequence[str] | None
    column_names: Sequence[str] | None


def without_totals(table: Wide) -> tuple[Wide, list[str]]:
    """Remove a last column and a last row called "Total" if they are the sums of the others."""
    X, rows, columns = table.X, table.row_names, table.column_names
    notes = []
    if columns and _is_total(X.T, columns[-1]):
        notes.append(_note("column", columns[-1]))
        X, columns = X[:, :-1], columns[:-1]
    if rows and _is_total(X, rows[-1]):
        notes.append(_note("row", rows[-1]))
        X, rows = X[:-1], rows[:-1]
    return Wide(X, rows, columns), notes


def _is_total(X: Dense, name: str) -> bool:
    """Whether the last row is called a total, and is one."""
    if name.strip().casefold() not in _NAMES or len(X) <= _LEAST:
        return False
    last, sums = X[-1], np.nansum(X[:-1], axis=0)
    known = ~np.isnan(last)
    return bool(known.any() and np.allclose(last[known], sums[known], rtol=_ROUNDING, atol=1e-9))


def _note(kind: str, name: str) -> str:
    return (
        f'The last {kind}, "{name.strip()}", is the sum of the others and is left out; '
        "--keep-totals keeps it."
    )
