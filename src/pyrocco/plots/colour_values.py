"""From the values of a matrix to the colours of a heat map: standardised, within limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, ListedColormap, Normalize

from pyrocco._typing import Dense, Floats, Matrix, is_sparse
from pyrocco.plots.style import MISSING, colour_scale

__all__ = ["ColourChoice", "Colours", "as_axis", "standardised"]

# Cells of a sparse matrix that may become dense, because standardised zeros are not zero.
_MOST_DENSE = 200_000_000
_AXES = {0: 0, 1: 1, "rows": 0, "columns": 1}


@dataclass(frozen=True)
class ColourChoice:
    """What a user chose about the colours; None is for the values to decide."""

    cmap: str | Colormap | None = None
    center: float | None = None
    vmin: float | None = None
    vmax: float | None = None
    robust: bool = True


@dataclass(frozen=True)
class Colours:
    """A colormap and the values at its two ends."""

    cmap: Colormap
    norm: Normalize

    @classmethod
    def chosen(cls, values: Dense, signed: bool, choice: ColourChoice) -> Colours:
        """Choose what is left to choose by the values that are drawn."""
        usual = colour_scale(values, signed)
        low, high = (usual.low, usual.high) if choice.robust else _range(values, signed)
        low = low if choice.vmin is None else float(choice.vmin)
        high = high if choice.vmax is None else float(choice.vmax)
        if not low < high:
            if choice.vmin is not None and choice.vmax is not None:
                raise ValueError(f"vmin must be less than vmax, not {low:g} and {high:g}.")
            low, high = (low, low + 1.0) if choice.vmin is not None else (high - 1.0, high)
        center, name = choice.center, usual.cmap
        if center is None and choice.cmap is None and signed:
            # The chosen ends may be on one side of 0.
            center, name = (0.0, name) if low < 0 < high else (None, "viridis")
        cmap = colormaps["RdBu_r" if center is not None else name]
        cmap = cmap if choice.cmap is None else _colormap(choice.cmap)
        if center is not None and low < high:
            cmap = _centred(cmap, float(center), low, high)
        return cls(cmap.with_extremes(bad=MISSING), Normalize(low, high))

    def rgb(self, values: Floats) -> Dense:
        """Return the colours of values; missing values are grey."""
        masked = np.ma.masked_invalid(values)
        return np.asarray(self.cmap(self.norm(masked), bytes=True))


def _range(values: Dense, signed: bool) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    if signed:
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    return (low, high) if low < high else (min(low, 0.0), max(high, 1e-12))


def _colormap(cmap: str | Colormap) -> Colormap:
    if isinstance(cmap, Colormap):
        return cmap
    if cmap not in colormaps:
        raise ValueError(
            f"cmap={cmap!r} is not a colormap of matplotlib, such as 'viridis'; those of seaborn "
            "are known after import seaborn."
        )
    return colormaps[cmap]


def _centred(cmap: Colormap, center: float, low: float, high: float) -> Colormap:
    """Cut a colormap so that its middle is at the centre."""
    reach = max(high - center, center - low)
    ends = (0.5 + (low - center) / (2 * reach), 0.5 + (high - center) / (2 * reach))
    first, last = np.clip(ends, 0, 1)
    return ListedColormap(cmap(np.linspace(first, last, 256)), f"{cmap.name}_centred")


def as_axis(name: str, value: object) -> int | None:
    """Return 0 for rows and 1 for columns, as seaborn counts."""
    if value is None:
        return None
    if isinstance(value, bool) or value not in _AXES:
        raise ValueError(f"{name} must be 'rows' (or 0), 'columns' (or 1) or None, not {value!r}.")
    return _AXES[value]


def standardised(X: Matrix, z_score: int | None, standard_scale: int | None) -> Matrix:
    """Standardise every row (0) or every column (1).

    Parameters
    ----------
    X : ndarray or CSR matrix
        The matrix; missing values stay missing.
    z_score : {None, 0, 1}
        Subtract the mean and divide by the standard deviation.
    standard_scale : {None, 0, 1}
        Subtract the minimum and divide by the range.

    Returns
    -------
    ndarray or CSR matrix
        Constant rows or columns become 0.

    Examples
    --------
    >>> standardised(np.array([[1.0, 3.0], [4.0, 4.0]]), None, 0).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    if z_score is None and standard_scale is None:
        return X
    if z_score is not None and standard_scale is not None:
        raise ValueError("give z_score or standard_scale, not both.")
    values = _dense(X)
    axis = z_score if z_score is not None else standard_scale
    along = 1 if axis == 0 else 0
    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=along, keepdims=True), 1)
    if z_score is not None:
        start = np.nansum(values, axis=along, keepdims=True) / counts
        squares = np.nansum((values - start) ** 2, axis=along, keepdims=True)
        width = np.sqrt(squares / np.maximum(counts - 1, 1))
    else:
        start = np.where(known, values, np.inf).min(axis=along, keepdims=True)
        width = np.where(known, values, -np.inf).max(axis=along, keepdims=True) - start
    tiny = 1e-12 * np.maximum(np.abs(start), np.finfo(float).tiny)
    constant = ~(np.isfinite(width) & (width > tiny))
    start = np.where(np.isfinite(start), start, 0.0)
    centred = (values - start) / np.where(constant, 1.0, width)
    return np.asarray(np.where(constant & known, 0.0, centred))


def _dense(X: Matrix) -> Floats:
    if not is_sparse(X):
        return np.asarray(X, dtype=float)
    if X.shape[0] * X.shape[1] > _MOST_DENSE:
        raise ValueError(
            f"a sparse matrix of {X.shape[0]} x {X.shape[1]} is too large to be standardised, "
            "because its zeros would not stay zero: leave out z_score and standard_scale."
        )
    dense: Any = X.toarray()
    return np.asarray(dense, dtype=float)
