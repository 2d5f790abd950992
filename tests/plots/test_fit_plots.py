"""Plots of fits: the values drawn, and labels that never overlap."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import sparse

from pyrocco.assign.nested import NestedSide
from pyrocco.plots import (
    plot_biclusters,
    plot_block_means,
    plot_block_noise,
    plot_confidence,
    plot_convergence,
    plot_membership,
    plot_tree,
)
from pyrocco.plots.style import GREY, cluster_colours


def axes(inches=6.0):
    return Figure(figsize=(inches, inches)).add_subplot()


def drawn(ax):
    return np.ma.filled(ax.images[0].get_array(), np.nan)


def boxes(ax, texts):
    """Bounding boxes of the visible texts, in pixels."""
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return [t.get_window_extent(canvas.get_renderer()) for t in texts if t.get_text()]


def assert_apart(found):
    assert not any(a.overlaps(b) for a, b in combinations(found, 2))


def test_block_means_are_sorted_written_and_named():
    ax = plot_block_means(
        [[-4.0, 20.0], [31.5, -0.001]], axes(), row_sizes=[9, 4], column_sizes=[7, 2]
    )
    np.testing.assert_array_equal(drawn(ax), [[20.0, -4.0], [-0.001, 31.5]])
    assert [t.get_text() for t in ax.texts] == ["20.0", "-4.0", "0.0", "31.5"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0 (9)", "1 (4)"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1 (2)", "0 (7)"]


@pytest.mark.parametrize("n", [2, 30, 1500])
def test_numbers_and_names_of_blocks_never_overlap(n):
    values = np.random.default_rng(0).standard_normal((n, n))
    ax = plot_block_means(values, axes(), row_sizes=np.full(n, 1000), column_sizes=np.full(n, 9))
    assert bool(ax.texts) == (n == 2)
    for labels in (ax.texts, ax.get_xticklabels(), ax.get_yticklabels()):
        assert_apart(boxes(ax, labels))
    assert max(drawn(ax).shape) <= 600


@pytest.mark.parametrize("largest", [1e-9, 1e-3, 1.0, 5e4, 3e200])
def test_numbers_of_any_magnitude_are_short(largest):
    ax = plot_block_means([[largest, largest / 2]], axes())
    texts = [t.get_text() for t in ax.texts]
    assert all(len(text) <= 8 for text in texts)
    np.testing.assert_allclose([float(text) for text in texts], [largest, largest / 2], rtol=0.05)


def test_blocks_without_values_are_labelled_missing():
    X = np.array([[1.0, 2.0, np.nan], [3.0, 2.0, np.nan], [5.0, 5.0, 5.0]])
    ax = plot_block_noise(X, [0, 0, 1], [0, 1, 2], axes())
    values = drawn(ax)
    assert np.isnan(values).sum() == 1
    assert sorted(values[~np.isnan(values)]) == [0, 0, 0, 0, 1]
    assert "missing" in [t.get_text() for t in ax.texts]
    assert np.isnan(drawn(plot_block_means([[np.nan, 1.0]], axes()))).sum() == 1


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_noise_is_the_standard_deviation_of_every_block(convert):
    rng = np.random.default_rng(0)
    rows, columns = np.arange(40) % 3, np.arange(30) % 2
    X = rng.standard_normal((40, 30)) * (1 + rows[:, None])
    ax = plot_block_noise(convert(X), rows, columns, axes())
    expected = [X[rows == i][:, columns == j].std() for i in range(3) for j in range(2)]
    np.testing.assert_allclose(np.sort(drawn(ax).ravel()), np.sort(expected))
    assert ax.images[0].get_clim() == (0, max(expected))


def test_noise_of_a_constant_matrix():
    ax = plot_block_noise(np.ones((4, 4)), [0, 0, 1, 1], [0, 0, 1, 1], axes())
    assert drawn(ax).tolist() == [[0, 0], [0, 0]]


def test_convergence_draws_objective_and_schedule():
    ax = plot_convergence([9.0, 4.0, 2.0], axes(), mu_rows=[8, 4, 2], mu_columns=[1, 1, 0.5])
    assert ax.lines[0].get_xydata().tolist() == [[1, 9], [2, 4], [3, 2]]
    (right,) = [other for other in ax.figure.axes if other is not ax]
    assert [line.get_ydata().tolist() for line in right.lines] == [[8, 4, 2], [1, 1, 0.5]]
    assert [t.get_text() for t in right.get_legend().get_texts()] == [
        "objective",
        "mu of rows",
        "mu of columns",
    ]
    assert ax.get_yscale() == right.get_yscale() == "log"


def test_convergence_of_one_iteration_and_of_negative_objectives():
    ax = plot_convergence([5.0], axes(), mu_rows=[np.inf], mu_columns=[np.inf])
    assert ax.figure.axes == [ax]
    low, high = ax.get_xlim()
    assert [tick for tick in ax.get_xticks() if low <= tick <= high] == [1]
    assert plot_convergence([1.0, -2.0], axes()).get_yscale() == "linear"


@pytest.mark.parametrize("n", [10, 10_000])
def test_membership_is_drawn_cluster_by_cluster(n):
    rng = np.random.default_rng(0)
    membership, labels = rng.random(n), np.arange(n) % 4
    ax = plot_membership(membership, labels, axes(), side="columns")
    parts = [patch.get_data() for patch in ax.patches]
    assert len(parts) == 4
    for cluster, part in enumerate(parts):
        mean = np.average(part.values, weights=np.diff(part.edges))
        assert mean == pytest.approx(membership[labels == cluster].mean())
        assert (np.diff(part.values) <= 0).all()
        assert part.edges[-1] - part.edges[0] == (labels == cluster).sum()
    assert sum(len(part.values) for part in parts) <= max(n, 600)
    assert "column clusters" in [t.get_text() for t in ax.texts]
    assert_apart(boxes(ax, ax.texts[:-1]))


def test_the_old_name_of_the_membership_plot_still_works():
    new = plot_membership([0.6, 1.0, 0.9], [0, 0, 1], axes())
    with pytest.warns(FutureWarning, match="plot_membership"):
        old = plot_confidence(confidence=[0.6, 1.0, 0.9], labels=[0, 0, 1], ax=axes())
    for ours, theirs in zip(new.patches, old.patches, strict=True):
        np.testing.assert_array_equal(ours.get_data().values, theirs.get_data().values)


def tree_of(n, k, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.sort(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    return NestedSide.build(rng.standard_normal((n, 4)) + 5 * labels[:, None], labels)


@pytest.mark.parametrize(("n", "k"), [(10, 2), (10_000, 6), (3000, 500), (4, 1), (3, 3)])
def test_trees_show_every_merge_once_and_number_what_fits(n, k):
    side = tree_of(n, k)
    ax = plot_tree(side.finest, side.merges, side.heights, axes(), n_clusters=k)
    (links,) = ax.collections
    segments = links.get_segments()
    assert len(segments) == min(side.n_finest, max(200, k)) - 1
    shown = side.heights[len(side.heights) - len(segments) :]
    np.testing.assert_allclose([s[1, 1] for s in segments], shown)
    assert all(s[1, 1] >= max(s[0, 1], s[3, 1]) for s in segments)
    colours = [to_hex(colour) for colour in links.get_colors()]
    assert colours.count(to_hex(GREY)) == k - 1
    assert set(colours) <= {to_hex(GREY), *cluster_colours(k)}
    assert len(ax.lines) == k
    assert_apart(boxes(ax, [*sorted(ax.texts, key=lambda t: t.xy[0]), ax.xaxis.label]))
    if k <= 6:
        assert sorted(t.get_text() for t in ax.texts) == [str(c) for c in range(k)]


def test_numbers_under_a_tree_stand_under_their_clusters():
    side = tree_of(300, 5)
    ax = plot_tree(side.finest, side.merges, side.heights, axes(), n_clusters=5)
    sizes = np.bincount(side.cut(5))
    widths = sorted(np.ptp(line.get_xdata()) for line in ax.lines)
    np.testing.assert_allclose(widths, np.sort(sizes), rtol=0.25)
    order = [int(t.get_text()) for t in sorted(ax.texts, key=lambda t: t.xy[0])]
    middles = np.cumsum(sizes[order]) - sizes[order] / 2
    np.testing.assert_allclose(sorted(t.xy[0] for t in ax.texts), middles)


@pytest.mark.parametrize("n_clusters", [2, 40])
def test_heat_maps_have_a_bar_for_every_cluster(n_clusters):
    labels = np.arange(200) % n_clusters
    X = np.random.default_rng(0).random((200, 200))
    ax = plot_biclusters(X, labels, labels, axes())
    rows, columns = ax.collections
    for bars in (rows, columns):
        assert len(bars.get_segments()) == n_clusters
        assert len(np.unique(bars.get_colors(), axis=0)) == min(n_clusters, 32)
    assert all(np.all(s[:, 0] == 1) for s in rows.get_segments())
    assert all(np.all(s[:, 1] == 1) for s in columns.get_segments())
