"""Heat maps of a matrix: in its original order, and sorted by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy import sparse

from pyrocco._typing import (
    FittedCoClustering,
    Floats,
    Labels,
    Matrix,
    MatrixLike,
    stored_values,
)
from pyrocco.cells.input import check_matrix
from pyrocco.plots.axis_labels import (
    LONGEST_NAME,
    draw_cluster_bars,
    label_clusters,
    label_names,
    names_font,
)
from pyrocco.plots.input import read_data
from pyrocco.plots.order import Arrangement, downsample
from pyrocco.plots.style import (
    FONT_SIZE,
    GREY,
    ColourScale,
    NotebookFigure,
    colour_scale,
    own_axes,
    show_image,
)
from pyrocco.texts import counted

__all__ = [
    "before_and_after",
    "mark_outlier_cells",
    "outlier_degree",
    "outlier_opacity",
    "plot_biclusters",
    "plot_matrix",
]

# Inches. They are fixed, so that it is known in advance which labels fit.
_PANEL_WIDTH, _PANEL_HEIGHT = 4.6, 5.0
_MARGIN, _TOP, _CLUSTER_LABELS, _COLOURBAR = 0.25, 0.75, 0.5, 0.16
_TITLE_LINE = 0.2
_TITLE: dict[str, Any] = {"fontsize": FONT_SIZE + 2, "pad": 36}


def plot_matrix(
    X: MatrixLike,
    ax: Axes | None = None,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    scale: ColourScale | None = None,
) -> Axes:
    """Draw a matrix as a heat map; neighbours are averaged if there are more than pixels.

    Parameters
    ----------
    X : DataFrame of pandas or polars, array, sparse matrix or AnnData
        The matrix; missing values are NaN.
    ax : Axes, optional
        Axes to draw on; those of a new figure by default.
    row_names, column_names : sequence of str, optional
        Names, written beside the heat map if they fit; by default those of `X`.
    scale : ColourScale, optional
        Colours; chosen from the values by default.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> ax = plot_matrix(np.eye(4), Figure().add_subplot())
    >>> ax.images[0].get_array().shape
    (4, 4)
    """
    data, ax = read_data(X), own_axes(ax)
    n_rows, n_columns = data.X.shape
    _draw(data.X, ax, (np.arange(n_rows), np.arange(n_columns)), scale)
    names = data.names(row_names, column_names)
    label_names(ax, "rows", names[0])
    label_names(ax, "columns", names[1])
    return ax


def plot_biclusters(
    X: MatrixLike,
    row_labels: ArrayLike | None = None,
    column_labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    model: FittedCoClustering | None = None,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    scale: ColourScale | None = None,
    cell_weights: Matrix | None = None,
    cluster_names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Axes:
    """Draw a matrix with rows and columns sorted by cluster and lines between the clusters.

    Parameters
    ----------
    X : DataFrame of pandas or polars, array, sparse matrix or AnnData
        The matrix; missing values are NaN.
    row_labels, column_labels : array-like of int, optional
        Cluster of every row and of every column, counting from 0.
    ax : Axes, optional
        Axes to draw on; those of a new figure by default.
    model : fitted estimator, optional
        Model to draw instead of labels, in the order of all plots and of the report.
    row_names, column_names : sequence of str, optional
        Names, written beside the heat map if they fit; by default those of `X`.
    scale : ColourScale, optional
        Colours; chosen from the values by default.
    cell_weights : ndarray or sparse matrix, optional
        Weight of every cell (`ROCCO.cell_weights_`). Outlier cells, those with a low
        weight, are drawn in grey.
    cluster_names : pair of sequences of str, optional
        Names of the row clusters and of the column clusters; their numbers by default.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> X = np.array([[5.0, 0.0, 5.0], [0.0, 5.0, 0.0]])
    >>> ax = plot_biclusters(X, [0, 1], [0, 1, 0], Figure().add_subplot())
    >>> ax.images[0].get_array().tolist()
    [[5.0, 5.0, 0.0], [0.0, 0.0, 5.0]]
    """
    data, ax = read_data(X), own_axes(ax, (6.0, 5.0))
    found = Arrangement.of(data.X, row_labels, column_labels, model)
    scale = _draw(data.X, ax, found.members, scale)
    if cell_weights is not None:
        mark_outlier_cells(check_matrix(cell_weights), ax, found.members)
    sides = zip(("rows", "columns"), found.labels, found.clusters, found.members, strict=True)
    names = data.names(row_names, column_names)
    named = zip(names, cluster_names or (None, None), strict=True)
    for (axis, label, cluster, order), (own, called) in zip(sides, named, strict=True):
        edges = np.concatenate([[0], np.cumsum(np.bincount(label)[cluster])])
        _draw_borders(ax, axis, edges, scale.border)
        draw_cluster_bars(ax, axis, edges, cluster)
        shown = [str(number) if called is None else called[number] for number in cluster]
        label_clusters(ax, axis, shown, edges)
        label_names(ax, axis, None if own is None else [own[i] for i in order])
    return ax


def before_and_after(
    X: MatrixLike,
    row_labels: ArrayLike | None = None,
    column_labels: ArrayLike | None = None,
    *,
    model: FittedCoClustering | None = None,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    cell_weights: Matrix | None = None,
) -> Figure:
    """Draw a matrix in its original order beside the same matrix sorted by cluster.

    Parameters
    ----------
    X : DataFrame of pandas or polars, array, sparse matrix or AnnData
        The matrix; missing values are NaN.
    row_labels, column_labels : array-like of int, optional
        Cluster of every row and of every column, counting from 0.
    model : fitted estimator, optional
        Model to draw instead of labels, in the order of all plots and of the report.
    row_names, column_names : sequence of str, optional
        Names, written beside the heat maps if they fit; by default those of `X`.
    cell_weights : ndarray or sparse matrix, optional
        Weight of every cell (`ROCCO.cell_weights_`). Outlier cells, those with a low
        weight, are drawn in grey in the sorted matrix.

    Returns
    -------
    Figure

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((3, 3)))
    >>> figure = before_and_after(X, [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    >>> [ax.get_title() for ax in figure.axes[:2]]
    ['Original: 6 rows, 6 columns', 'Sorted: 2 row clusters, 2 column clusters']
    """
    data = read_data(X)
    found = Arrangement.of(data.X, row_labels, column_labels, model)
    top = _TOP if cell_weights is None else _TOP + _TITLE_LINE
    own = data.names(row_names, column_names)
    figure, (left, right, bar) = _panels(*own, top)
    names: dict[str, Any] = {"row_names": own[0], "column_names": own[1]}
    clusters = (row_labels, column_labels, right)
    plot_biclusters(data, *clusters, model=model, cell_weights=cell_weights, **names)
    image = right.images[0]
    scale = ColourScale(image.get_cmap().name, *image.get_clim(), "black")
    plot_matrix(data, left, scale=scale, **names)
    size = f"{counted(data.X.shape[0], 'row')}, {counted(data.X.shape[1], 'column')}"
    left.set_title(f"Original: {size}", **_TITLE)
    n_rows, n_columns = (len(of_side) for of_side in found.clusters)
    numbers = f"{counted(n_rows, 'row cluster')}, {counted(n_columns, 'column cluster')}"
    marked = "" if cell_weights is None else "\n(grey: outlier cells)"
    right.set_title(f"Sorted: {numbers}{marked}", **_TITLE)
    _draw_colourbar(right, bar, data.X.shape)
    return figure


def mark_outlier_cells(weights: Matrix, ax: Axes, orders: tuple[Labels, Labels]) -> Axes:
    """Draw grey over the outlier cells of a heat map.

    Cells with a weight of at least 0.75 are left as they are. Cells that a sparse matrix of
    weights does not store have weight 1.
    """
    opacity = outlier_opacity(downsample(outlier_degree(weights), *orders))
    grey = np.broadcast_to(to_rgb(GREY), (*opacity.shape, 3))
    show_image(ax, np.concatenate([grey, opacity[..., None]], axis=2), weights.shape)
    return ax


def outlier_opacity(degrees: Floats) -> Floats:
    """Return how much grey covers cells: none up to a degree of 0.25, all from 0.75 on."""
    return np.clip(2 * degrees - 0.5, 0, 1)


def outlier_degree(weights: Matrix) -> Matrix:
    """Return 1 minus the weight of every cell; 0 for missing values."""
    degree = np.nan_to_num(1 - stored_values(weights))
    if not sparse.issparse(weights):
        return degree
    filled: Any = weights.copy()
    filled.data = degree
    return filled


def _draw(
    X: Matrix, ax: Axes, orders: tuple[Labels, Labels], scale: ColourScale | None
) -> ColourScale:
    image = downsample(X, *orders)
    scale = scale or colour_scale(image, signed=bool((stored_values(X) < 0).any()))
    show_image(ax, image, X.shape, scale)
    return scale


def _draw_borders(ax: Axes, axis: str, edges: Labels, colour: str) -> None:
    """Draw lines between clusters, except where they would cover a narrow cluster."""
    least = edges[-1] / 150
    drawn = [0]
    for edge in edges[1:-1]:
        if edge - drawn[-1] >= least and edges[-1] - edge >= least:
            drawn.append(edge)
    line = ax.axhline if axis == "rows" else ax.axvline
    for edge in drawn[1:]:
        line(edge, color=colour, linewidth=1.0 if len(drawn) < 30 else 0.5)


def _panels(
    row_names: Sequence[str] | None, column_names: Sequence[str] | None, top: float
) -> tuple[Figure, list[Axes]]:
    """Make a figure with two heat maps and a colour bar, with space for the names."""
    left = _margin(row_names, _PANEL_HEIGHT)
    bottom = _margin(column_names, _PANEL_WIDTH)
    starts = [left, 2 * left + _PANEL_WIDTH + _MARGIN]
    starts.append(starts[1] + _PANEL_WIDTH + _CLUSTER_LABELS)
    width, height = starts[-1] + _COLOURBAR + 0.75, bottom + _PANEL_HEIGHT + top
    figure = NotebookFigure(figsize=(width, height))
    widths = (_PANEL_WIDTH, _PANEL_WIDTH, _COLOURBAR)
    boxes = [
        (start / width, bottom / height, wide / width, _PANEL_HEIGHT / height)
        for start, wide in zip(starts, widths, strict=True)
    ]
    return figure, [figure.add_axes(box) for box in boxes]


def _margin(names: Sequence[str] | None, inches: float) -> float:
    """Return the inches that names of this length need."""
    if names is None:
        return _MARGIN
    longest = min(LONGEST_NAME, max(len(name) for name in names))
    return _MARGIN + 0.62 * longest * names_font(len(names), inches) / 72


def _draw_colourbar(ax: Axes, bar: Axes, shape: tuple[int, int]) -> None:
    image = ax.images[0]  # the values; the marks of outlier cells lie above
    shown = np.asarray(image.get_array())
    low, high = image.get_clim()
    beyond = bool((shown < low).any()), bool((shown > high).any())
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max"}
    colourbar = bar.figure.colorbar(image, cax=bar, extend=ends.get(beyond, "both"))
    averaged = shown.shape != shape
    colourbar.set_label("mean value" if averaged else "value", fontsize=FONT_SIZE)
    bar.tick_params(labelsize=FONT_SIZE)
