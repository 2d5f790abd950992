"""An annotated heat map of a matrix, sorted by cluster, in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from sklearn.base import clone

from pyrocco._typing import Labels, Matrix, is_sparse
from pyrocco.assign.nested import NestedSide
from pyrocco.cells.input import check_matrix
from pyrocco.estimators import ROCCO
from pyrocco.plots.cluster_map_figure import Drawing, draw
from pyrocco.plots.colour_values import ColourChoice, as_axis, standardised
from pyrocco.plots.heatmap import outlier_degree
from pyrocco.plots.input import NamedData, named_by_identifiers, read_data
from pyrocco.plots.layout import ClusterMapStyle, Side
from pyrocco.plots.order import clusters_in_order, member_order, tree_of
from pyrocco.plots.style import rendered, save_figure
from pyrocco.plots.tracks import Track, annotation_table, make_tracks
from pyrocco.texts import counted

__all__ = ["ClusterMap", "clustermap"]

_FORMATS = (".pdf", ".png", ".svg")

Annotations = Any  # DataFrame, Series, dict, or names of columns


@dataclass(frozen=True, eq=False)
class ClusterMap:
    """The figure that `clustermap` drew, and the clusters that it shows.

    A notebook shows the figure. `save` writes it to a file.

    Attributes
    ----------
    figure : Figure
        The figure.
    axes : dict of str to Axes
        Its parts: ``"heatmap"``, ``"colorbar"``, ``"row_tree"``, ``"column_tree"``,
        ``"row_clusters"``, ``"column_clusters"``, ``"row_annotations"``,
        ``"column_annotations"`` and ``"canvas"`` (legends and title, in inches), as far as
        they are drawn.
    model : estimator
        The fitted model.
    row_labels, column_labels : Series
        Cluster of every row and of every column, with the names of the data as index.
    row_order, column_order : ndarray of int
        Positions of the rows, from top to bottom, and of the columns, from left to right.
    reordered : DataFrame
        The values as they are drawn.

    Examples
    --------
    >>> from pyrocco import clustermap
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> clustermap(make_noisy_biclusters((60, 40), 3, noise=5).X)
    ClusterMap: 60 rows in 3 clusters, 40 columns in 3 clusters
    """

    figure: Figure
    axes: dict[str, Axes]
    model: Any
    row_labels: pd.Series[Any]
    column_labels: pd.Series[Any]
    row_order: Labels
    column_order: Labels
    _values: Matrix
    _words: tuple[str, str] = ("rows", "columns")

    @cached_property
    def reordered(self) -> pd.DataFrame:
        """The values as they are drawn."""
        values: Any = self._values[self.row_order][:, self.column_order]
        dense = values.toarray() if is_sparse(values) else values
        rows = self.row_labels.index[self.row_order]
        return pd.DataFrame(dense, rows, self.column_labels.index[self.column_order])

    def save(self, path: str | os.PathLike[str], dpi: int = 300) -> None:
        """Save the figure.

        Parameters
        ----------
        path : str or path
            A file that ends in .pdf, .svg or .png. Text in PDF and SVG files stays text.
        dpi : int, default=300
            Pixels per inch of a PNG file, and of the heat map in the others.
        """
        if Path(path).suffix.lower() not in _FORMATS:
            raise ValueError(
                f"{os.fspath(path)}: figures are saved as {', '.join(_FORMATS)}: choose one of "
                "these endings, or use figure.savefig."
            )
        save_figure(self.figure, path, dpi)

    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows."""
        return rendered(self.figure, dpi=200)

    def __repr__(self) -> str:
        parts = [
            f"{counted(len(labels), word[:-1])} in {counted(labels.nunique(), 'cluster')}"
            for labels, word in zip(
                (self.row_labels, self.column_labels), self._words, strict=True
            )
        ]
        return f"ClusterMap: {', '.join(parts)}"


def clustermap(  # noqa: PLR0913 - as many as users of seaborn expect
    data: Any,
    *,
    model: Any = None,
    method: Any = None,
    row_annotations: Annotations = None,
    column_annotations: Annotations = None,
    row_cluster: bool = True,
    column_cluster: bool = True,
    z_score: int | str | None = None,
    standard_scale: int | str | None = None,
    cmap: str | Colormap | None = None,
    center: float | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    robust: bool = True,
    label: str | None = None,
    row_names: bool | str | Sequence[object] = "auto",
    column_names: bool | str | Sequence[object] = "auto",
    cluster_names: tuple[Any, Any] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    style: ClusterMapStyle | None = None,
) -> ClusterMap:
    """Cluster the rows and the columns of a matrix and draw them as an annotated heat map.

    Both numbers of clusters are determined by `ROCCO`. Rows and columns are sorted by cluster,
    with gaps between the clusters; clusters that are similar are neighbours, as the trees of
    nested clusters on the margins show, and high blocks are as near the diagonal as the trees
    allow. Annotations, such as a treatment or an age, are drawn as tracks with legends.

    Parameters
    ----------
    data : DataFrame of pandas or polars, array, sparse matrix, AnnData or io.Matrix
        The matrix; missing values are NaN and drawn in grey. A DataFrame whose first column
        holds texts that are all different, and whose index only counts the rows, has the names
        of its rows in that column. So has one whose first column holds whole numbers under a
        heading such as ``Entrez`` or ``sample_id``, with a warning, unless `model` is given.
    model : fitted estimator, optional
        Clusters to draw: a `ROCCO` that was fitted to this matrix, one of its cuts
        (``model.at(3, 2)``), or any estimator with ``row_labels_`` and ``column_labels_``, or
        with ``labels_`` of the rows. By default a model is fitted.
    method : estimator, optional
        What is fitted, such as ``ROCCO(n_clusters=(3, None))`` or `RCC`; ``ROCCO()`` by default.
        It is not changed; the fitted copy is the `model` of the result.
    row_annotations, column_annotations : DataFrame, Series, dict or list of str, optional
        Annotations of rows and of columns. A DataFrame or Series is matched by its index, or by
        a column that holds the names; if it has neither, by position. A list has names of
        columns: of `data`, which are then not part of the matrix, or of ``obs`` and ``var`` of
        an AnnData object. Texts, yes/no values and whole numbers with few values that repeat
        are drawn as categories, of which the 19 most frequent have a colour if there are more
        than 20; other numbers and dates from light to dark.
    row_cluster, column_cluster : bool, default=True
        Whether rows, and columns, are sorted by cluster. If False they keep their order, such
        as that of times.
    z_score : {None, "rows", "columns", 0, 1}, default=None
        Subtract the mean of every row (``"rows"`` or 0) or column and divide by the standard
        deviation. The standardised values are clustered, unless `model` is given, and drawn.
    standard_scale : {None, "rows", "columns", 0, 1}, default=None
        Subtract the minimum of every row or column and divide by the range.
    cmap : str or Colormap, optional
        Colormap. By default ``"RdBu_r"`` around 0, or around `center`, if there are negative
        values or a `center`, otherwise ``"viridis"``.
    center : float, optional
        Value in the middle of the colormap.
    vmin, vmax : float, optional
        Values at the ends of the colormap.
    robust : bool, default=True
        Whether ends that are not given leave out the most extreme hundredth of the values.
    label : str, optional
        What the values are, with their unit; written at the colour bar.
    row_names, column_names : bool or list, default="auto"
        Which names are written. ``"auto"`` writes all, or one of up to ten, if they fit; True
        writes as many as fit, False none. A list of names writes these, with a line to the row
        of each.
    cluster_names : pair of list or dict, optional
        Names of the row clusters and of the column clusters, by their number; None for the
        numbers.
    title : str, optional
        Title of the figure.
    figsize : pair of float, optional
        Width and height in inches, such as (3.35, 4) for one column of a journal; by default
        as large as the matrix needs.
    style : ClusterMapStyle, optional
        Gaps, font size, trees, place of the legends, and colours of annotations.

    Returns
    -------
    ClusterMap
        The figure, its parts, the model, the labels and the reordered values.

    See Also
    --------
    pyrocco.pl.heatmap : Draws the clusters that are stored in an AnnData object.

    Notes
    -----
    If the matrix has more rows or columns than the heat map has pixels, a pixel shows the mean
    of the cells in it. No pixel shows cells of two clusters, and single rows and columns that
    differ much from the rest of their cluster have a pixel of their own.

    Outlier cells that the model found are grey.

    If the columns have different units (`ROCCO.cells_`), the values that are drawn are
    standardised by column, as with ``z_score="columns"``.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyrocco import clustermap
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> data = pd.DataFrame(make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X)
    >>> result = clustermap(data, row_annotations={"batch": ["a", "b"] * 30}, title="Planted")
    >>> result.row_labels.nunique(), result.reordered.shape
    (3, (60, 40))
    >>> sorted(result.axes)[:3]
    ['canvas', 'colorbar', 'column_clusters']
    """
    style = style or ClusterMapStyle()
    if hasattr(data, "fit"):
        raise TypeError(
            f"data is a {type(data).__name__}: pass the matrix first, and the fitted model as "
            "model=."
        )
    if model is not None and method is not None:
        raise ValueError(
            "give model, which is fitted, or method, which is to be fitted, not both."
        )
    aside = _names_of_columns(row_annotations)
    read = read_data(named_by_identifiers(data, aside) if model is None else data, aside)
    scaling = as_axis("z_score", z_score), as_axis("standard_scale", standard_scale)
    scaled = standardised(read.X, *scaling)
    clustered = scaled if model is None else read.X
    model = _fitted(method, clustered) if model is None else model
    has_columns = hasattr(model, "column_labels_")
    orders = _orders(model, clustered, (row_cluster, column_cluster and has_columns))
    drawn = scaled
    if scaling == (None, None) and getattr(model, "cells_", None) == "different units":
        scaling = (1, None)
        drawn = standardised(read.X, *scaling)
    tables = _annotation_tables(read, row_annotations, column_annotations)
    called = (None, None) if cluster_names is None else cluster_names
    if isinstance(called, str) or len(called) != 2 or any(isinstance(c, str) for c in called):
        raise ValueError(
            "cluster_names must be a pair: names of the row clusters and of the column clusters, "
            "each a list, a dict or None."
        )
    asked = (
        _Asked(row_cluster, row_names, called[0]),
        _Asked(column_cluster and has_columns, column_names, called[1]),
    )
    sides = _sides(model, read, orders, tables, asked, style.colours)
    choice = ColourChoice(cmap, center, vmin, vmax, robust)
    label = label or _usual_label(scaling, read.words)
    drawing = Drawing(drawn, *sides, choice, label, style, _outliers(model, drawn))
    figure, axes = draw(drawing, figsize, title)
    labelled = _both_labels(model, (len(read.rows), len(read.columns)))
    row_labels = pd.Series(labelled.row_labels_, read.rows, name="cluster")
    column_labels = pd.Series(labelled.column_labels_, read.columns, name="cluster")
    return ClusterMap(figure, axes, model, row_labels, column_labels, *orders, drawn, read.words)


def _names_of_columns(annotations: Annotations) -> list[str]:
    """Return the names of columns of the data, if the annotations are names."""
    if isinstance(annotations, str):
        return [annotations]
    is_list = isinstance(annotations, (list, tuple, pd.Index)) and len(annotations) > 0
    return list(annotations) if is_list and all(isinstance(a, str) for a in annotations) else []


def _fitted(method: Any, X: Matrix) -> Any:
    """Fit a copy of an estimator."""
    if method is not None and not hasattr(method, "fit"):
        raise TypeError(
            f"method={method!r} is not an estimator: pass what is to be fitted, such as "
            "pyrocco.ROCCO(n_clusters=3)."
        )
    return clone(method if method is not None else ROCCO()).fit(X)


@dataclass(frozen=True)
class _Asked:
    """What is asked of one side."""

    sort: bool
    names: bool | str | Sequence[object]
    cluster_names: Any


@dataclass(frozen=True)
class _Labels:
    """Labels of rows and columns, for `member_order`, of a model that has those of rows only."""

    row_labels_: Labels
    column_labels_: Labels


def _both_labels(model: Any, shape: tuple[int, int]) -> Any:
    """Return an object with labels of rows and of columns, after checking their number."""
    rows = getattr(model, "row_labels_", getattr(model, "labels_", None))
    if rows is None:
        raise TypeError(
            f"{type(model).__name__} has no row_labels_ or labels_: fit it, or pass it as method=."
        )
    columns = getattr(model, "column_labels_", None)
    if len(rows) != shape[0] or (columns is not None and len(columns) != shape[1]):
        found = f"{len(rows)} rows" + ("" if columns is None else f" and {len(columns)} columns")
        raise ValueError(
            f"model has labels of {found}, but data has {shape[0]} rows and {shape[1]} columns."
        )
    if columns is not None and np.min(rows) >= 0 and np.min(columns) >= 0:
        return model
    columns = np.zeros(shape[1], dtype=np.intp) if columns is None else columns
    return _Labels(_from_zero(rows), _from_zero(columns))


def _from_zero(labels: Any) -> Labels:
    """Give rows that have no cluster, -1, the last number."""
    labels = np.asarray(labels, dtype=np.intp)
    return np.asarray(np.where(labels < 0, labels.max() + 1, labels))


def _orders(model: Any, X: Matrix, sorted_: tuple[bool, bool]) -> tuple[Labels, Labels]:
    labelled = _both_labels(model, (X.shape[0], X.shape[1]))
    rows, columns = member_order(labelled, X)
    return (
        rows if sorted_[0] else np.arange(X.shape[0]),
        columns if sorted_[1] else np.arange(X.shape[1]),
    )


def _outliers(model: Any, X: Matrix) -> Matrix | None:
    """Return how far every cell is an outlier; None if none was found in this matrix."""
    weights = getattr(model, "cell_weights_", None)
    known = weights is not None and weights.shape == X.shape
    return outlier_degree(check_matrix(weights)) if known else None


def _annotation_tables(
    read: NamedData, rows: Annotations, columns: Annotations
) -> tuple[pd.DataFrame, pd.DataFrame]:
    return (
        _annotation_frame(rows, read.row_annotations, read.rows, "row_annotations"),
        _annotation_frame(columns, read.column_annotations, read.columns, "column_annotations"),
    )


def _annotation_frame(
    given: Annotations, own: pd.DataFrame | None, index: pd.Index, argument: str
) -> pd.DataFrame:
    """Return the annotations of one side."""
    if given is None:
        return pd.DataFrame(index=index)
    names = _names_of_columns(given)
    if not names:
        return annotation_table(given, index, argument)
    if own is None:
        raise ValueError(
            f"{argument}={given!r} names columns of an annotation table, which data does not "
            "have: pass a DataFrame, a Series or a dict."
        )
    unknown = [name for name in names if name not in own.columns]
    if unknown:
        known = ", ".join(map(str, own.columns)) or "none"
        raise ValueError(f"{argument}: there is no annotation {unknown[0]!r}; there are: {known}.")
    return own[names]


def _sides(
    model: Any,
    read: NamedData,
    orders: tuple[Labels, Labels],
    tables: tuple[pd.DataFrame, pd.DataFrame],
    asked: tuple[_Asked, _Asked],
    colours: Mapping[str, object],
) -> tuple[Side, Side]:
    labelled, tree = _both_labels(model, (len(read.rows), len(read.columns))), tree_of(model)
    labels = labelled.row_labels_, labelled.column_labels_
    tracks = make_tracks(tables, colours)
    trees = (None, None) if tree is None else (tree.rows, tree.columns)
    rows, columns = (
        _side(side, read, labels[side], orders[side], trees[side], tracks[side], asked[side])
        for side in (0, 1)
    )
    return rows, columns


def _side(
    side: int,
    read: NamedData,
    labels: Labels,
    order: Labels,
    tree: NestedSide | None,
    tracks: tuple[Track, ...],
    asked: _Asked,
) -> Side:
    """Return what is drawn of one side; one that is not sorted is drawn as one cluster."""
    drawn = np.asarray(labels)
    if not asked.sort:
        drawn, tree = np.zeros(len(labels), dtype=np.intp), None
    return Side(
        axis=("rows", "columns")[side],
        names=(read.rows, read.columns)[side],
        has_names=read.has_names[side],
        word=read.words[side],
        order=order,
        labels=drawn,
        clusters=clusters_in_order(drawn, order),
        cluster_names=_cluster_names(asked.cluster_names, int(np.max(labels)) + 1),
        is_clustered=asked.sort,
        tree=tree,
        tracks=tracks,
        wanted=asked.names,
    )


def _cluster_names(given: Any, n: int) -> list[str]:
    """Return the names of clusters by their number; the number where none is given."""
    if isinstance(given, Mapping):
        return [str(given.get(k, k)) for k in range(n)]
    names = [str(k) for k in range(n)] if given is None else [str(name) for name in given]
    if len(names) != n:
        raise ValueError(f"cluster_names has {len(names)} names for {n} clusters.")
    return names


def _usual_label(scaling: tuple[int | None, int | None], words: tuple[str, str]) -> str:
    """Say what the values are."""
    names = "z-score", "scaled"
    for axis, name in zip(scaling, names, strict=True):
        if axis is not None:
            return f"{name} by {words[axis][:-1]}"
    return "value"
