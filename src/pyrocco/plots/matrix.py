"""Heat maps of a matrix: as given, and reordered so that its biclusters show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import sparse

from pyrocco.plots.bars import draw_bars
from pyrocco.plots.distrust import mark_distrust
from pyrocco.plots.margins import FONT_SIZE, LONGEST_NAME, label_clusters, label_names, names_font
from pyrocco.plots.order import cluster_order
from pyrocco.plots.picture import ColourScale, colour_scale, shrink

__all__ = ["before_and_after", "plot_biclusters", "plot_matrix"]

Array = np.ndarray[Any, Any]

# Inches. Fixed, so that it is known beforehand which labels fit.
_PANEL_WIDTH, _PANEL_HEIGHT = 4.6, 5.0
_MARGIN, _TOP, _CLUSTER_LABELS, _COLOURBAR = 0.25, 0.75, 0.5, 0.16
_TITLE: dict[str, Any] = {"fontsize": FONT_SIZE + 2, "pad": 36}


def plot_matrix(
    X: Any,
    ax: Axes,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    scale: ColourScale | None = None,
) -> Axes:
    """Draw a matrix as a heat map, averaging neighbours where there are more than pixels.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        The numbers.
    ax : Axes
        Where to draw.
    row_names, column_names : sequence of str, optional
        Written beside the picture where they fit.
    scale : ColourScale, optional
        Colours; chosen from the numbers by default.

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
    orders = np.arange(X.shape[0]), np.arange(X.shape[1])
    _draw(X, ax, orders, scale)
    label_names(ax, "rows", row_names)
    label_names(ax, "columns", column_names)
    return ax


def plot_biclusters(
    X: Any,
    row_labels: Any,
    column_labels: Any,
    ax: Axes,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    scale: ColourScale | None = None,
    cell_weights: Any = None,
    cluster_names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Axes:
    """Draw a matrix with rows and columns sorted by cluster and the borders between them.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        The numbers.
    row_labels, column_labels : array of int
        Cluster of every row and of every column, counting from 0.
    ax : Axes
        Where to draw.
    row_names, column_names : sequence of str, optional
        Written beside the picture where they fit.
    scale : ColourScale, optional
        Colours; chosen from the numbers by default.
    cell_weights : ndarray or sparse matrix, optional
        Trust in every cell (`ROCCO.cell_weights_`): distrusted ones are marked in grey.
    cluster_names : pair of sequences of str, optional
        What row clusters and column clusters are called; their numbers by default.

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
    labels, names = (row_labels, column_labels), (row_names, column_names)
    _draw_biclusters(X, labels, ax, names, scale, cell_weights, cluster_names)
    return ax


def before_and_after(
    X: Any,
    row_labels: Any,
    column_labels: Any,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    cell_weights: Any = None,
) -> Figure:
    """Draw a matrix as given beside the same matrix sorted by cluster, in the same colours.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        The numbers.
    row_labels, column_labels : array of int
        Cluster of every row and of every column, counting from 0.
    row_names, column_names : sequence of str, optional
        Written beside the pictures where they fit.
    cell_weights : ndarray or sparse matrix, optional
        Trust in every cell (`ROCCO.cell_weights_`): distrusted ones are marked in grey in
        the sorted matrix.

    Returns
    -------
    Figure

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((3, 3)))
    >>> figure = before_and_after(X, [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    >>> [ax.get_title() for ax in figure.axes[:2]]
    ['As given: 6 rows, 6 columns', 'Sorted: 2 clusters of rows, 2 clusters of columns']
    """
    figure, (left, right, bar) = _panels(row_names, column_names)
    labels = (row_labels, column_labels)
    names = (row_names, column_names)
    scale = _draw_biclusters(X, labels, right, names, None, cell_weights)
    plot_matrix(X, left, row_names=row_names, column_names=column_names, scale=scale)
    rows, columns = (_count(n, kind) for n, kind in zip(X.shape, ("row", "column"), strict=True))
    left.set_title(f"As given: {rows}, {columns}", **_TITLE)
    rows, columns = (_count(int(np.max(label)) + 1, "cluster") for label in labels)
    marked = "" if cell_weights is None else "\n(grey: cells not trusted)"
    right.set_title(f"Sorted: {rows} of rows, {columns} of columns{marked}", **_TITLE)
    _draw_colourbar(right, bar, X.shape)
    return figure


def _draw_biclusters(
    X: Any,
    labels: tuple[Any, Any],
    ax: Axes,
    names: tuple[Sequence[str] | None, Sequence[str] | None],
    scale: ColourScale | None,
    cell_weights: Any,
    cluster_names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> ColourScale:
    labels = np.asarray(labels[0]), np.asarray(labels[1])
    clusters = cluster_order(X, *labels)
    orders = _sorted_by(labels[0], clusters[0]), _sorted_by(labels[1], clusters[1])
    scale = _draw(X, ax, orders, scale)
    if cell_weights is not None:
        mark_distrust(cell_weights, ax, orders)
    called = cluster_names or tuple(range(len(cluster)) for cluster in clusters)
    for axis, name, label, cluster, order, known in zip(
        ("rows", "columns"), names, labels, clusters, orders, called, strict=True
    ):
        edges = np.concatenate([[0], np.cumsum(np.bincount(label)[cluster])])
        _draw_borders(ax, axis, edges, scale.border)
        draw_bars(ax, axis, edges)
        label_clusters(ax, axis, [known[number] for number in cluster], edges)
        label_names(ax, axis, None if name is None else [name[i] for i in order])
    return scale


def _draw(X: Any, ax: Axes, orders: tuple[Array, Array], scale: ColourScale | None) -> ColourScale:
    picture = shrink(X, *orders)
    cells = X.data if sparse.issparse(X) else X
    scale = scale or colour_scale(picture, signed=bool((cells < 0).any()))
    n_rows, n_columns = X.shape
    ax.imshow(
        picture,
        cmap=scale.cmap,
        vmin=scale.low,
        vmax=scale.high,
        aspect="auto",
        interpolation="nearest",  # columns must not bleed into each other
        extent=(0, n_columns, n_rows, 0),
    )
    return scale


def _sorted_by(labels: Array, clusters: Array) -> Array:
    rank = np.empty_like(clusters)
    rank[clusters] = np.arange(len(clusters))
    return np.argsort(rank[labels], kind="stable")


def _draw_borders(ax: Axes, axis: str, edges: Array, colour: str) -> None:
    """Draw a line between clusters, leaving out those that would hide what they frame."""
    least = edges[-1] / 150
    drawn = [0]
    for edge in edges[1:-1]:
        if edge - drawn[-1] >= least and edges[-1] - edge >= least:
            drawn.append(edge)
    line = ax.axhline if axis == "rows" else ax.axvline
    for edge in drawn[1:]:
        line(edge, color=colour, linewidth=1.0 if len(drawn) < 30 else 0.5)


def _panels(
    row_names: Sequence[str] | None, column_names: Sequence[str] | None
) -> tuple[Figure, list[Axes]]:
    left = _room(row_names, _PANEL_HEIGHT)
    bottom = _room(column_names, _PANEL_WIDTH)
    starts = [left, 2 * left + _PANEL_WIDTH + _MARGIN]
    starts.append(starts[1] + _PANEL_WIDTH + _CLUSTER_LABELS)
    width, height = starts[-1] + _COLOURBAR + 0.75, bottom + _PANEL_HEIGHT + _TOP
    figure = Figure(figsize=(width, height))
    widths = (_PANEL_WIDTH, _PANEL_WIDTH, _COLOURBAR)
    boxes = [
        (start / width, bottom / height, wide / width, _PANEL_HEIGHT / height)
        for start, wide in zip(starts, widths, strict=True)
    ]
    return figure, [figure.add_axes(box) for box in boxes]


def _room(names: Sequence[str] | None, inches: float) -> float:
    """Margin for names of this length, in inches."""
    if names is None:
        return _MARGIN
    longest = min(LONGEST_NAME, max(len(name) for name in names))
    return _MARGIN + 0.62 * longest * names_font(len(names), inches) / 72


def _draw_colourbar(ax: Axes, bar: Axes, shape: tuple[int, int]) -> None:
    image = ax.images[0]  # the numbers; what marks cells lies above
    picture = np.asarray(image.get_array())
    low, high = image.get_clim()
    beyond = bool((picture < low).any()), bool((picture > high).any())
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max"}
    colourbar = bar.figure.colorbar(image, cax=bar, extend=ends.get(beyond, "both"))
    averaged = picture.shape != shape
    colourbar.set_label("mean value" if averaged else "value", fontsize=FONT_SIZE)
    bar.tick_params(labelsize=FONT_SIZE)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
