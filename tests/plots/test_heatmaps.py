"""Heat maps: the values drawn, the order of the clusters, colours, borders and labels."""

import sys
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import sparse

from pyrocco.fitting.result import block_means
from pyrocco.plots import before_and_after, plot_biclusters, plot_matrix, save_figure
from pyrocco.plots.axis_labels import draw_cluster_bars, label_clusters, label_names, names_font
from pyrocco.plots.heatmap import mark_outlier_cells, outlier_degree
from pyrocco.plots.order import bins, cluster_order, downsample, order_by_means
from pyrocco.plots.style import cluster_colours, colour_scale, colour_table


def planted(n_rows, n_columns, n_clusters, seed=0):
    """A matrix with one high block per cluster, and its labels."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, n_rows)])[:n_rows]
    columns = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, n_columns)])
    columns = rng.permutation(columns[:n_columns])
    partner = rng.permutation(n_clusters)
    X = 5.0 * (partner[rows][:, None] == columns[None, :]) + rng.random((n_rows, n_columns))
    return X, rows, columns


def drawn(ax):
    return np.asarray(ax.images[0].get_array())


def axes():
    return Figure(figsize=(6, 6)).add_subplot()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_block_means_are_plain_means(convert):
    X, rows, columns = planted(30, 20, 3)
    expected = [[X[rows == i][:, columns == j].mean() for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(block_means(convert(X), rows, columns), expected)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_downsampling_averages_neighbours(convert):
    X = np.random.default_rng(0).random((40, 60))
    order = np.random.default_rng(1).permutation(40)
    small = downsample(convert(X), order, np.arange(60), most=20)
    np.testing.assert_allclose(small, X[order].reshape(20, 2, 20, 3).mean(axis=(1, 3)))


def test_a_small_matrix_is_drawn_cell_by_cell():
    X = np.random.default_rng(0).normal(size=(10, 7))
    np.testing.assert_array_equal(drawn(plot_matrix(X, axes())), X)


def test_biclusters_are_sorted_and_separated_by_lines():
    X, rows, columns = planted(40, 30, 3)
    ax = plot_biclusters(X, rows, columns, axes())
    row_clusters, column_clusters = cluster_order(X, rows, columns)
    row_order = np.concatenate([np.flatnonzero(rows == k) for k in row_clusters])
    column_order = np.concatenate([np.flatnonzero(columns == k) for k in column_clusters])
    np.testing.assert_array_equal(drawn(ax), X[row_order][:, column_order])
    across = sorted(line.get_ydata()[0] for line in ax.lines if line.get_xdata() == [0, 1])
    down = sorted(line.get_xdata()[0] for line in ax.lines if line.get_ydata() == [0, 1])
    np.testing.assert_array_equal(across, np.cumsum(np.bincount(rows)[row_clusters])[:-1])
    np.testing.assert_array_equal(down, np.cumsum(np.bincount(columns)[column_clusters])[:-1])


@pytest.mark.parametrize("seed", range(5))
def test_high_blocks_lie_on_the_diagonal(seed):
    X, rows, columns = planted(60, 50, 5, seed)
    rows_drawn, columns_drawn = cluster_order(X, rows, columns)
    means = block_means(X, rows, columns)[rows_drawn][:, columns_drawn]
    np.testing.assert_array_equal(means.argmax(axis=0), np.arange(5))
    assert (np.diff(np.bincount(rows)[rows_drawn]) <= 0).all()


@pytest.mark.parametrize("transpose", [False, True])
def test_the_side_with_more_clusters_is_ordered_by_the_other(transpose):
    X = np.kron(np.array([[0, 9, 0, 9], [9, 0, 9, 0]]), np.ones((3, 2)))
    rows, columns = np.repeat([0, 1], 3), np.repeat(np.arange(4), 2)
    rows[0] = 1  # row cluster 1 is the larger one
    if transpose:
        columns_drawn, rows_drawn = cluster_order(X.T, columns, rows)
        rows_drawn, columns_drawn = columns_drawn, rows_drawn
    else:
        rows_drawn, columns_drawn = cluster_order(X, rows, columns)
    few, many = (
        (rows_drawn, columns_drawn) if len(rows_drawn) == 2 else (columns_drawn, rows_drawn)
    )
    assert few.tolist() == [1, 0]
    assert many.tolist() == [0, 2, 1, 3]


def test_colours_ignore_a_few_extreme_values():
    X = np.random.default_rng(0).normal(size=(100, 100))
    X[0, 0] = 1e9
    scale = colour_scale(X, signed=True)
    assert scale.cmap == "RdBu_r"
    assert scale.low == -scale.high
    assert 1.5 < scale.high < 4
    counts = np.abs(X)
    scale = colour_scale(counts, signed=False)
    assert scale.cmap == "viridis"
    assert 0 <= scale.low < 0.1
    assert 1.5 < scale.high < 4


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_colours_of_a_constant_matrix(value, signed):
    scale = colour_scale(np.full((4, 4), value), signed)
    assert scale.low < scale.high


def test_colours_of_a_matrix_with_few_nonzero_values():
    X = np.zeros((100, 100))
    X[0, :5] = 2.0
    assert colour_scale(X, signed=False).high == 2.0
    assert colour_scale(-X, signed=True).high == 2.0


def test_a_sparse_matrix_is_never_made_dense():
    shape = (300_000, 200_000)  # 480 GB as a dense matrix
    rng = np.random.default_rng(0)
    entries = (
        np.ones(50_000),
        (rng.integers(0, shape[0], 50_000), rng.integers(0, shape[1], 50_000)),
    )
    X = sparse.csr_array(entries, shape=shape)
    rows, columns = np.arange(shape[0]) % 4, np.arange(shape[1]) % 3
    ax = plot_biclusters(X, rows, columns, axes())
    assert max(drawn(ax).shape) <= 600
    np.testing.assert_allclose(drawn(ax).mean(), 50_000 / (shape[0] * shape[1]), rtol=0.02)


CASES = {
    "10 rows": (10, 8, 2),
    "50 rows": (50, 45, 6),
    "10,000 rows": (10_000, 30, 5),
    "many clusters": (3000, 500, 120),
    "one row": (1, 12, 1),
}


@pytest.mark.parametrize("has_outliers", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_no_text_overlaps_and_all_is_inside(case, has_outliers):
    n_rows, n_columns, n_clusters = CASES[case]
    X, rows, columns = planted(n_rows, n_columns, n_clusters)
    names = [f"a rather long name of row {i}" for i in range(n_rows)]
    figure = before_and_after(
        X,
        rows,
        columns,
        row_names=names,
        column_names=[f"s{j}" for j in range(n_columns)],
        cell_weights=np.ones_like(X) if has_outliers else None,
    )
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    texts = [text for ax in figure.axes for text in (*ax.texts, ax.title, *tick_texts(ax))]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def tick_texts(ax):
    return [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.yaxis.label]


def overlap(a, b):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5


def test_names_are_drawn_if_they_fit():
    X, rows, columns = planted(12, 900, 2)
    names = [f"gene {i}" for i in range(12)]
    figure = before_and_after(
        X, rows, columns, row_names=names, column_names=[str(j) for j in range(900)]
    )
    left, right, _ = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == names
    order = np.concatenate([np.flatnonzero(rows == k) for k in cluster_order(X, rows, columns)[0]])
    assert [text.get_text() for text in right.get_yticklabels()] == [names[i] for i in order]
    assert not left.get_xticks().size


def test_both_heat_maps_share_their_colours():
    X, rows, columns = planted(50, 40, 3)
    left, right, _ = before_and_after(X - 3, rows, columns).axes
    assert left.images[0].get_clim() == right.images[0].get_clim()
    assert left.images[0].get_cmap().name == right.images[0].get_cmap().name == "RdBu_r"


def test_names_with_formulae_and_characters_that_fonts_lack(tmp_path):
    figure = before_and_after(
        np.eye(3),
        [0, 1, 1],
        [0, 1, 1],
        row_names=["$x_{", "基因", "a\nb"],
        column_names=["%", "\\", "{"],
    )
    save_figure(figure, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def open_figures():
    pyplot = sys.modules.get("matplotlib.pyplot")
    return [] if pyplot is None else pyplot.get_fignums()


def test_no_global_figures():
    X, rows, columns = planted(20, 20, 2)
    open_before = open_figures()
    before_and_after(X, rows, columns)
    assert open_figures() == open_before


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_missing_values_are_blank_and_change_no_colours(convert):
    X = np.kron([[9.0, 1.0], [2.0, 7.0]], np.ones((6, 5)))
    incomplete = X.copy()
    incomplete[3, 4] = np.nan
    rows, columns = np.repeat([0, 1], 6), np.repeat([0, 1], 5)
    assert block_means(convert(incomplete), rows, columns).tolist() == [[9.0, 1.0], [2.0, 7.0]]
    axes = [plot_biclusters(Z, rows, columns, Figure().add_subplot()) for Z in (X, incomplete)]
    assert axes[0].images[0].get_clim() == axes[1].images[0].get_clim()
    assert np.isnan(np.ma.filled(axes[1].images[0].get_array(), np.nan)).sum() == 1


def test_missing_values_are_not_marked_as_outlier_cells():
    weights = np.array([[1.0, 0.2], [np.nan, 1.0]])
    orders = np.arange(2), np.arange(2)
    ax = mark_outlier_cells(weights, Figure().add_subplot(), orders)
    assert (ax.images[-1].get_array()[..., 3] > 0).tolist() == [[False, True], [False, False]]


def test_bins_divide_an_order():
    assert bins(np.array([3, 2, 1, 0]), 2).tolist() == [1, 1, 0, 0]


def test_high_blocks_are_near_the_diagonal():
    means = np.array([[0.0, 9.0], [5.0, 0.0]])
    rows, columns = order_by_means(means, np.array([1, 2]), np.array([2, 1]))
    assert (rows.tolist(), columns.tolist()) == ([1, 0], [0, 1])


def test_names_are_written_in_a_font_that_fits():
    assert [names_font(count, 5.0) for count in (30, 50, 3000)] == [8.0, 5.76, 0.0]
    ax = Figure().add_subplot()
    label_names(ax, "rows", ["a", "b"])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]


def test_clusters_have_a_name_and_a_bar():
    ax, edges = Figure().add_subplot(), np.array([0, 70, 100])
    label_clusters(ax, "rows", [1, 0], edges)
    assert [text.get_text() for text in ax.texts] == ["1", "0", "row clusters"]
    draw_cluster_bars(ax, "rows", edges, np.array([1, 0]))
    assert len(ax.collections[0].get_segments()) == 2
    assert [to_hex(colour) for colour in ax.collections[0].get_colors()] == cluster_colours(2)[
        ::-1
    ]


def test_missing_values_are_no_outlier_cells():
    assert outlier_degree(np.array([[0.25, np.nan]])).tolist() == [[0.75, 0.0]]


def test_colours_of_a_scale():
    table = colour_table(colour_scale(np.array([0.0, 1.0]), signed=False))
    assert (table.shape, table[0].tolist()) == ((256, 3), [68, 1, 84])


@pytest.mark.filterwarnings("error")
def test_values_near_the_largest_number(planted):
    X, rows, columns = planted
    scaled = X / np.abs(X).max()
    usual = plot_biclusters(scaled, rows, columns, Figure().add_subplot()).images[0]
    for scale in (1e-300, 3e307):
        image = plot_biclusters(scaled * scale, rows, columns, Figure().add_subplot()).images[0]
        np.testing.assert_allclose(image.get_array() / scale, usual.get_array(), rtol=1e-6)
    figure = before_and_after(scaled * 1.7e308, rows, columns)
    figure.canvas.draw()
    assert np.isfinite(figure.axes[1].images[0].get_clim()).all()
