"""clustermap: what is drawn, where it is drawn, and what it returns."""

import time
from itertools import combinations

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import colormaps, rc_context
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from scipy import sparse
from sklearn.cluster import KMeans

import pyrocco
from pyrocco import ROCCO, clustermap
from pyrocco.io import read_matrix
from pyrocco.plots import (
    ClusterMapStyle,
    plot_biclusters,
    plot_block_means,
    plot_membership,
    plot_tree,
)
from pyrocco.plots.branches import tree_links
from pyrocco.plots.colour_values import standardised
from pyrocco.plots.legends import format_ticks, nice_ticks
from pyrocco.plots.order import display_order
from pyrocco.plots.places import Places, pixel_means, standing_out
from pyrocco.plots.style import MISSING, category_colours, cluster_colours
from pyrocco.plots.text_size import fitted, text_width
from pyrocco.plots.tracks import annotation_table, make_tracks


@pytest.fixture(autouse=True)
def draw_nowhere():
    with rc_context({"backend": "agg"}):
        yield
    plt.close("all")


@pytest.fixture(name="frame", scope="module")
def make_frame():
    """60 genes by 40 samples with three clusters each, and names for all."""
    rng = np.random.default_rng(0)
    rows, columns = np.repeat([0, 1, 2], [25, 20, 15]), np.repeat([0, 1, 2], [16, 14, 10])
    means = np.array([[4.0, 0, -2], [0, 5, 0], [-3, 0, 6]])
    X = means[rows][:, columns] + rng.normal(0, 0.7, (60, 40))
    order, place = rng.permutation(60), rng.permutation(40)
    genes = pd.Index([f"g{i}" for i in range(60)], name="gene")
    return pd.DataFrame(X[order][:, place], genes, [f"s{j}" for j in range(40)])


@pytest.fixture(name="model", scope="module")
def fit_model(frame):
    return ROCCO().fit(frame)


class Labels:
    """A model that is nothing but labels."""

    def __init__(self, rows, columns):
        self.row_labels_, self.column_labels_ = np.asarray(rows), np.asarray(columns)


def texts(result):
    return {
        text.get_text()
        for ax in result.axes.values()
        for text in (*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels())
    }


def assert_nothing_overlaps(result):
    """All texts, legends and panels are inside the figure and apart from each other."""
    renderer = FigureCanvasAgg(result.figure).get_renderer()
    result.figure.draw(renderer)
    boxes = {}
    for name, ax in result.axes.items():
        if name != "canvas":
            boxes[name] = ax.get_window_extent(renderer)
        inside = name in ("row_clusters", "column_clusters")
        for text in (*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels()):
            if text.get_text() and text.get_visible() and not inside:
                boxes[f"{name}: {text.get_text()} {len(boxes)}"] = text.get_window_extent(renderer)
    page = result.figure.bbox
    for name, box in boxes.items():
        assert box.x0 >= -1, name
        assert box.y0 >= -1, name
        assert box.x1 <= page.x1 + 1, name
        assert box.y1 <= page.y1 + 1, name
    for (name, a), (other, b) in combinations(boxes.items(), 2):
        across, up = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across < 1.5 or up < 1.5, f"{name} and {other}"


def test_frames_give_labels_with_their_index(frame, model):
    result = clustermap(frame)
    assert result.row_labels.index.equals(frame.index)
    assert result.column_labels.index.equals(frame.columns)
    np.testing.assert_array_equal(result.row_labels, model.row_labels_)
    np.testing.assert_array_equal(result.column_labels, model.column_labels_)
    expected = frame.iloc[result.row_order, result.column_order]
    pd.testing.assert_frame_equal(result.reordered, expected)
    assert repr(result) == "ClusterMap: 60 rows in 3 clusters, 40 columns in 3 clusters"
    assert result._repr_png_().startswith(b"\x89PNG")
    assert {"gene", "g7", "s3", "value"} <= texts(result)


KINDS = {
    "array": lambda frame: frame.to_numpy(),
    "list": lambda frame: frame.to_numpy().tolist(),
    "sparse": lambda frame: sparse.csr_array(frame.to_numpy()),
    "CSC": lambda frame: sparse.csc_matrix(frame.to_numpy()),
    "pandas": lambda frame: frame,
    "pandas with names in a column": lambda frame: frame.reset_index(),
    "polars": lambda frame: pl.DataFrame({"gene": list(frame.index), **frame}),
    "AnnData": anndata.AnnData,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data(kind, frame, model):
    result = clustermap(KINDS[kind](frame), method=ROCCO())
    np.testing.assert_array_equal(result.row_labels, model.row_labels_)
    np.testing.assert_array_equal(result.column_labels, model.column_labels_)
    named = "pandas" in kind or kind in ("polars", "AnnData")
    assert list(result.row_labels.index) == (list(frame.index) if named else list(range(60)))
    np.testing.assert_allclose(
        result.reordered, frame.to_numpy()[result.row_order][:, result.column_order]
    )


def test_a_matrix_that_was_read_from_a_file(frame, tmp_path):
    frame.to_csv(tmp_path / "x.csv")
    result = clustermap(read_matrix(tmp_path / "x.csv"))
    assert list(result.row_labels.index) == list(frame.index)


def test_the_heat_map_shows_the_values_in_their_places(frame, model):
    result = clustermap(frame, model=model, style=ClusterMapStyle(gap=3))
    image = result.axes["heatmap"].images[0]
    pixels, (left, right, bottom, top) = image.get_array(), image.get_extent()
    mappable = result.axes["colorbar"].collections
    assert mappable is not None
    gaps = pixels[..., 3] == 0
    row_edges = np.flatnonzero(np.diff(gaps.all(axis=1).astype(int)) == 1)
    assert len(row_edges) == 2
    assert (left, top) == (0, 0)
    assert right > 40
    assert bottom > 60
    # Of two cells, the larger value is the redder one.
    ticks = result.axes["heatmap"].get_yticks()
    centre = (np.array([ticks[0], ticks[-1]]) / bottom * len(pixels)).astype(int)
    column = int(result.axes["heatmap"].get_xticks()[0] / right * pixels.shape[1])
    values = result.reordered.iloc[[0, -1], 0].to_numpy()
    red = pixels[centre, column, 0].astype(int) - pixels[centre, column, 2]
    assert (red[0] > red[1]) == (values[0] > values[1])


@pytest.mark.parametrize("figsize", [None, (7.1, 6.0), (3.35, 5.0)])
def test_nothing_overlaps(frame, model, figsize):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "pathway": [f"pathway {i % 7}" for i in range(60)],
            "length": rng.gamma(2, 1000, 60),
            "is coding": rng.random(60) < 0.5,
        },
        index=frame.index,
    )
    columns = {
        "treatment": ["drug", "placebo"] * 20,
        "age at visit (years)": rng.normal(50, 9, 40),
    }
    result = clustermap(
        frame,
        model=model,
        row_annotations=rows,
        column_annotations=columns,
        title="A title that is long enough to need more than a single line in a narrow figure",
        label="log2 fold change",
        figsize=figsize,
    )
    assert_nothing_overlaps(result)
    named = {"pathway 3", "length", "drug", "treatment", "True", "log2 fold change"}
    assert named <= texts(result)
    if figsize is not None:
        np.testing.assert_allclose(result.figure.get_size_inches(), figsize)


def test_no_overlap_with_thirty_clusters_and_many_categories():
    rng = np.random.default_rng(0)
    rows, columns = np.arange(300) % 30, np.arange(120) % 12
    X = rng.normal(size=(30, 12))[rows][:, columns] + rng.normal(0, 0.1, (300, 120))
    data = pd.DataFrame(X, [f"gene {i}" for i in range(300)])
    result = clustermap(
        data,
        model=Labels(rows, columns),
        row_annotations={"family": [f"family {i % 45}" for i in range(300)]},
        row_names=[f"gene {i}" for i in range(0, 40, 2)],
    )
    assert_nothing_overlaps(result)
    bar = result.axes["row_clusters"]
    assert len({to_hex(patch.get_facecolor()) for patch in bar.patches}) == 30
    assert {text.get_text() for text in bar.texts} == {str(k) for k in range(30)}
    assert {"other (26)", "family 3", "gene 38"} <= texts(result)
    assert "gene 1" not in texts(result)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_long_and_foreign_names_and_one_cluster(tmp_path):
    names = ["$x_{", "基因 一", "a\nb", "n" * 300, "Ångström", "ген", "%", "\\", "名", "x"]
    data = pd.DataFrame(np.arange(80.0).reshape(10, 8) % 7, names)
    result = clustermap(data, model=Labels(np.zeros(10, int), np.zeros(8, int)), title="标题 $x")
    assert_nothing_overlaps(result)
    result.save(tmp_path / "x.pdf")
    assert set(result.row_labels) == {0}


@pytest.mark.parametrize("shape", [(1, 12), (12, 1), (1, 1), (2, 2), (3, 400)])
def test_tiny_shapes(shape, tmp_path):
    X = np.random.default_rng(0).normal(size=shape)
    result = clustermap(X)
    assert result.reordered.shape == shape
    assert_nothing_overlaps(result)
    result.save(tmp_path / "x.png", dpi=50)


@pytest.mark.filterwarnings("ignore:Every value of 1 row")
def test_missing_values_constant_rows_and_rows_without_values(frame, model):
    data = frame.copy()
    data.iloc[3, 4] = np.nan
    data.iloc[5] = np.nan
    data.iloc[7] = 2.0
    for options in ({}, {"z_score": "rows"}, {"standard_scale": 1}):
        result = clustermap(data, model=model if options else None, **options)
        assert result.reordered.isna().sum().sum() == 41
        drawn = result.axes["heatmap"].images[0].get_array()
        grey = tuple(int(MISSING[i : i + 2], 16) for i in (1, 3, 5))
        assert (drawn[..., :3] == grey).all(axis=2).any()
        assert_nothing_overlaps(result)
    assert (result.reordered.loc["g7"].notna()).all()
    constant = clustermap(np.ones((6, 5)))
    assert constant.reordered.eq(1).all().all()
    nothing = clustermap(np.full((6, 5), np.nan), model=Labels([0] * 6, [0] * 5))
    assert nothing.reordered.isna().all().all()


def test_saved_files(frame, model, tmp_path):
    result = clustermap(frame, model=model, label="expression", title="Genes & samples")
    for ending, start in ((".pdf", b"%PDF"), (".png", b"\x89PNG"), (".svg", b"<?xml")):
        result.save(tmp_path / f"x{ending}")
        assert (tmp_path / f"x{ending}").read_bytes().startswith(start)
    svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert ">expression</text>" in svg
    assert ">g7</text>" in svg
    assert b"/Type3" not in (tmp_path / "x.pdf").read_bytes()
    with pytest.raises(ValueError, match=r"x\.jpg: figures are saved as \.pdf, \.png, \.svg"):
        result.save(tmp_path / "x.jpg")


def test_all_plots_have_one_order_and_one_set_of_colours(frame, model):
    result = clustermap(frame, model=model)
    rows, columns = display_order(model)
    bars = [result.axes[name] for name in ("row_clusters", "column_clusters")]
    for bar, order in zip(bars, (rows, columns), strict=True):
        assert [int(text.get_text()) for text in bar.texts] == order.tolist()
        colours = [to_hex(patch.get_facecolor()) for patch in bar.patches]
        assert colours == [cluster_colours(3)[k] for k in order]
    biclusters = plot_biclusters(frame, model=model)
    drawn = [to_hex(colour) for colour in biclusters.collections[0].get_colors()]
    assert drawn == [cluster_colours(3)[k] for k in rows]
    np.testing.assert_array_equal(biclusters.images[0].get_array(), result.reordered)
    means = plot_block_means(model).images[0].get_array()
    np.testing.assert_allclose(means, model.block_means_[np.ix_(rows, columns)])
    membership = plot_membership(model)
    fills = [to_hex(patch.get_facecolor()) for patch in membership.patches]
    assert fills == [cluster_colours(3)[k] for k in rows]
    tree = plot_tree(model)
    assert [int(text.get_text()) for text in tree.texts] == rows.tolist()
    assert [to_hex(line.get_color()) for line in tree.lines] == fills


def test_trees_stand_over_their_clusters(frame, model):
    result = clustermap(frame, model=model)
    order = result.row_order
    places = np.empty(60)
    places[order] = np.arange(60)
    links = tree_links(model.tree_.rows, places, 3)
    assert len(links) == model.tree_.rows.n_finest - 1
    assert sum(link.cluster < 0 for link in links) == 2
    for link in links:
        if link.cluster >= 0:
            inside = places[model.row_labels_ == link.cluster]
            assert inside.min() <= link.corners[:, 0].min()
            assert link.corners[:, 0].max() <= inside.max()


def test_sides_that_are_not_clustered_keep_their_order(frame, model):
    result = clustermap(frame, model=model, column_cluster=False)
    assert result.column_order.tolist() == list(range(40))
    assert not {"column_tree", "column_clusters"} & set(result.axes)
    by_rows = clustermap(frame, method=KMeans(3, random_state=0))
    assert by_rows.column_order.tolist() == list(range(40))
    assert by_rows.row_labels.nunique() == 3
    assert set(by_rows.column_labels) == {0}


def test_cuts_and_names_of_clusters(frame, model):
    names = ({0: "immune response", 1: "cell cycle"}, ["a", "b"])
    result = clustermap(frame, model=model.at(2, 2), cluster_names=names)
    assert {"immune response", "cell cycle", "a", "b"} <= texts(result)
    assert result.row_labels.nunique() == 2


def test_names_of_clusters_that_do_not_fit_are_in_a_legend(frame):
    rows = np.zeros(60, dtype=int)
    rows[:2] = 1
    names = ({0: "the larger cluster", 1: "a very small cluster"}, None)
    model = Labels(rows, np.arange(40) % 2)
    result = clustermap(frame, model=model, cluster_names=names, title="Names")
    assert_nothing_overlaps(result)
    canvas = {text.get_text() for text in result.axes["canvas"].texts}
    assert {"row clusters", "a very small cluster"} <= canvas
    assert "the larger cluster" not in canvas


def test_standardised_values_are_clustered_and_drawn(frame):
    result = clustermap(frame, z_score=0)
    expected = frame.sub(frame.mean(axis=1), axis=0).div(frame.std(axis=1), axis=0)
    pd.testing.assert_frame_equal(result.reordered.loc[frame.index, frame.columns], expected)
    assert "z-score by row" in texts(result)
    scaled = clustermap(frame, standard_scale="columns").reordered
    assert scaled.min().eq(0).all()
    assert scaled.max().eq(1).all()


def test_columns_with_different_units_are_standardised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) + 4 * (np.arange(80) % 2)[:, None]
    data = pd.DataFrame(X * [1, 10, 100, 1000, 0.01, 5] + [3, 50, 900, 20000, 1, 60])
    result = clustermap(data)
    assert result.model.cells_ == "different units"
    assert "z-score by column" in texts(result)
    np.testing.assert_allclose(result.reordered.std(), 1)


def test_colour_limits(frame, model):
    def limits(**options):
        result = clustermap(frame, model=model, **options)
        return result.axes["colorbar"].get_ylim()

    highest = np.abs(frame.to_numpy()).max()
    np.testing.assert_allclose(limits(robust=False), (-highest, highest))
    assert limits(vmin=-1, vmax=3) == (-1, 3)
    assert limits()[1] < highest
    with pytest.raises(ValueError, match="vmin must be less than vmax, not 3 and 1"):
        limits(vmin=3, vmax=1)
    with pytest.raises(ValueError, match="cmap='nope' is not a colormap"):
        limits(cmap="nope")


@pytest.mark.parametrize(
    ("limits", "middle"), [({"vmin": -1, "vmax": 3}, 0.25), ({"vmin": -2, "vmax": 2}, 0.5)]
)
def test_white_is_zero_between_chosen_limits(frame, model, limits, middle):
    bar = clustermap(frame, model=model, **limits).axes["colorbar"]
    colour = bar.collections[-1].cmap(middle)
    np.testing.assert_allclose(colour[:3], (0.969, 0.969, 0.969), atol=0.02)


def test_limits_on_one_side_of_zero_have_one_direction_of_colours(frame, model):
    bar = clustermap(frame, model=model, vmin=0, vmax=3).axes["colorbar"]
    assert bar.collections[-1].cmap(0.0) == colormaps["viridis"](0.0)


def test_the_centre_has_the_middle_colour(frame, model):
    result = clustermap(frame, model=model, center=0, vmin=-1, vmax=3, cmap="RdBu_r")
    pixels = result.axes["heatmap"].images[0].get_array()
    assert pixels[..., 0].max() > pixels[..., 2].min()
    bar = result.axes["colorbar"]
    middle = bar.collections[-1].cmap(0.25)
    np.testing.assert_allclose(middle[:3], (0.969, 0.969, 0.969), atol=0.02)


def test_annotations_are_matched_by_name(frame, model):
    ages = pd.Series(np.arange(60.0) + 0.5, index=frame.index, name="age")
    shuffled = ages.sample(frac=1, random_state=0)
    images = [
        clustermap(frame, model=model, row_annotations=given).axes["row_annotations"]
        for given in (ages, shuffled, {"age": list(ages)}, ages.reset_index(drop=True))
    ]
    for ax in images[1:]:
        np.testing.assert_array_equal(ax.images[0].get_array(), images[0].images[0].get_array())


def test_annotations_are_matched_by_a_column_of_names(frame, model):
    """As in a table that was read without an index, or one of polars."""
    expected = annotation_table(
        pd.DataFrame({"n": np.arange(60.0)}, frame.index), frame.index, "row_annotations"
    )
    table = pd.DataFrame({"n": np.arange(60.0), "patient": frame.index}).sample(
        frac=1, random_state=0, ignore_index=True
    )
    for given in (
        table,
        table[["patient", "n"]],
        table.set_axis(range(100, 160)),
        pl.from_pandas(table),
    ):
        found = annotation_table(given, frame.index, "row_annotations")
        pd.testing.assert_frame_equal(found, expected, check_index_type=False)
    some = annotation_table(table[:50], frame.index, "row_annotations")
    assert some["n"].notna().sum() == 50
    numbered = frame.set_axis(np.arange(1000, 1060), axis=0)
    given = pd.DataFrame({"entrez": numbered.index[::-1], "n": np.arange(60.0)[::-1]})
    found = annotation_table(given, numbered.index, "row_annotations")
    assert found["n"].tolist() == expected["n"].tolist()
    kinds = pd.DataFrame({"kind": ["a", "b"] * 30, "n": np.arange(60.0)})
    assert annotation_table(kinds, frame.index, "row_annotations").shape == (60, 2)
    with pytest.raises(ValueError, match="it begins with 7, the data with"):
        annotation_table(kinds.set_axis(np.arange(7, 67)), frame.index, "row_annotations")


def test_grey_cells_are_in_the_legend(frame, model):
    assert "missing" not in texts(clustermap(frame, model=model))
    assert "missing" in texts(clustermap(frame.mask(frame > 2), model=model))


def test_annotations_that_are_columns_of_the_data(frame):
    table = frame.assign(kind=["a", "b"] * 30)
    result = clustermap(table, row_annotations=["kind"])
    assert result.reordered.shape == (60, 40)
    assert {"kind", "a", "b"} <= texts(result)
    with pytest.raises(ValueError, match=r"column 'kind' of data holds texts.*row_annotations"):
        clustermap(table)
    with pytest.raises(ValueError, match=r"data has no column 'sort'\. It has s"):
        clustermap(table, row_annotations=["sort"])


def test_anndata_tracks(frame, model):
    adata = anndata.AnnData(frame)
    adata.obs["batch"] = pd.Categorical(["x", "y"] * 30, categories=["y", "x", "unused"])
    result = clustermap(adata, model=model, row_annotations=["batch"])
    assert {"batch", "x", "y"} <= texts(result)
    assert "unused" not in texts(result)
    with pytest.raises(ValueError, match="there is no annotation 'age'"):
        clustermap(adata, model=model, column_annotations=["age"])


@pytest.mark.parametrize(("name", "note"), [("gene", "gene (60)"), ("index", "60 rows")])
def test_what_names_are_is_said_beside_them(frame, model, name, note):
    """An index that a program called index is called rows."""
    canvas = clustermap(frame.rename_axis(name), model=model, figsize=(4, 3)).axes["canvas"]
    assert note in {text.get_text() for text in canvas.texts}


@pytest.mark.parametrize("heading", ["Entrez", "sample_id", "Unnamed: 0"])
def test_numbers_that_name_rows_are_not_data(frame, heading):
    """As pandas reads a sheet of genes with their numbers."""
    table = frame.reset_index(drop=True)
    table.insert(0, heading, 100 + 7 * np.arange(60))
    with pytest.warns(UserWarning, match=f"column of data, '{heading}', is taken for the names"):
        result = clustermap(table)
    assert result.reordered.shape == (60, 40)
    assert result.row_labels.index.tolist() == table[heading].tolist()
    for other in (
        clustermap(table.rename(columns={heading: "weight"})),
        clustermap(table, model=ROCCO().fit(table)),
        clustermap(table.assign(**{heading: 1.0})),
    ):
        assert other.reordered.shape == (60, 41)
    assert clustermap(table, row_annotations=[heading]).reordered.shape == (60, 40)


def test_names_that_occur_twice(frame, model):
    data = frame.set_axis(["same", "same", *frame.index[2:]])
    result = clustermap(data, model=model, row_annotations={"kind": ["a", "b"] * 30})
    assert list(result.row_labels.index[:2]) == ["same", "same"]
    with pytest.raises(ValueError, match="has several values for 'same'"):
        clustermap(frame, model=model, row_annotations=pd.Series(range(60), index=data.index))


def test_errors_say_what_to_do(frame, model):
    for options, words in [
        ({"row_annotations": pd.Series([1], index=["?"])}, "none of the names of the data"),
        ({"row_annotations": {"kind": [1, 2]}}, "2 values for 60 names"),
        ({"row_names": ["nobody"]}, "no row named 'nobody'"),
        ({"row_names": "all"}, "must be 'auto', True, False or a list"),
        ({"z_score": 2}, "z_score must be 'rows'"),
        ({"z_score": 0, "standard_scale": 1}, "not both"),
        ({"figsize": (1, 1)}, "choose at least"),
        ({"cluster_names": (["a"], None)}, "1 names for 3 clusters"),
        ({"cluster_names": ["up", "down", "flat"]}, "must be a pair"),
        ({"cluster_names": ["up", "down"]}, "must be a pair"),
        ({"model": Labels([0], [0])}, "labels of 1 rows and 1 columns, but data has 60"),
    ]:
        with pytest.raises(ValueError, match=words):
            clustermap(frame, **{"model": model, **options})
    with pytest.raises(ValueError, match="not both"):
        clustermap(frame, model=model, method=ROCCO())
    with pytest.raises(TypeError, match="data is a ROCCO: pass the matrix first"):
        clustermap(model)
    with pytest.raises(TypeError, match="not an estimator"):
        clustermap(frame, method="average")
    with pytest.raises(ValueError, match="legend must be one of"):
        ClusterMapStyle(legend="left")


def test_columns_of_texts_are_named_together(frame):
    table = frame.assign(sort="x", remark="y")
    words = r"columns 'sort', 'remark' of data hold texts .*row_annotations=\[\.\.\.\].*encode"
    with pytest.raises(ValueError, match=words):
        clustermap(table)
    with pytest.raises(ValueError, match=r"column 'remark' .*row_annotations=\['remark'\]"):
        clustermap(table.drop(columns="sort"))


def test_colours_of_annotations_are_told_apart():
    table = pd.DataFrame(
        {"many": list("abcdefgh"), "few": list("xyxyxyxy"), "n": np.arange(8.5)[:8] / 3}
    )
    (many, few, number), (other,) = make_tracks(
        [table, table[["n"]].rename(columns={"n": "m"})], {}
    )
    assert few.colours == tuple(category_colours(2))
    assert not set(many.colours) & set(few.colours)
    assert number.is_number
    assert number.colours != other.colours
    chosen = make_tracks([table[["few"]]], {"few": {"x": "red"}})[0][0]
    assert chosen.colours[0] == "red"
    assert not set(category_colours(30)) & set(cluster_colours(7))
    assert not set(category_colours(25)) & set(cluster_colours(16))
    assert len(set(category_colours(34))) == 34


def test_days_have_no_time_in_legends():
    days = pd.DataFrame({"visit": pd.to_datetime(["2024-03-02", "2024-03-01"])})
    ((track,),) = make_tracks([days], {})
    assert track.categories == ("2024-03-01", "2024-03-02")


def test_dates_are_drawn_from_light_to_dark():
    days = pd.DataFrame(
        {
            "visit": pd.date_range("2024-03-01", periods=4),
            "text": ["05.03.2024", None, "07.03.2024", "6.3.2024"],
            "hour": pd.date_range("2024-03-01 08:00", periods=4, freq="h"),
        }
    )
    ((visit, text, hour),) = make_tracks([days], {})
    assert visit.is_number
    assert visit.ends == ("2024-03-01", "2024-03-04")
    np.testing.assert_array_equal(np.diff(visit.values), 1)
    np.testing.assert_array_equal(text.values - text.values[0], [0, np.nan, 2, 1])
    assert hour.ends == ("2024-03-01 08:00", "2024-03-01 11:00")


def test_categories_are_sorted_as_people_sort_them():
    days = pd.DataFrame({"day": ["day 10", "day 2", None, "day 2"], "n": [3.0, 1.0, 2.0, np.nan]})
    ((day, n),) = make_tracks([days], {})
    assert day.categories == ("day 2", "day 10")
    np.testing.assert_array_equal(day.values, [1, 0, np.nan, 0])
    assert n.categories == ("1", "2", "3")


def test_pixels_of_more_rows_than_pixels():
    places = Places.spaced(np.arange(1000)[::-1], np.array([600, 400]), 0.1, 4.0)
    bins, pixels = places.pixels(100)
    assert (np.bincount(bins) > 0).all()
    assert (pixels < 0).sum() in (2, 3)
    assert set(pixels[pixels >= 0]) == set(bins)
    assert not set(bins[:400]) & set(bins[400:])
    X = np.arange(1000.0)[:, None]
    means, gaps = pixel_means(X, places, Places(np.arange(1), np.array([1])), (100, 1))
    inside = means[~gaps[:, 0], 0]
    assert (np.diff(inside) <= 0).all()
    assert inside[0] > 990
    assert inside[-1] < 10


def test_rows_that_stand_out_keep_a_pixel():
    X = np.random.default_rng(0).normal(0, 0.1, (1000, 30))
    X[[137, 500]] = 5.0
    rows = Places(np.arange(1000), np.array([1000]))
    columns = Places(np.arange(30), np.array([30]))
    alone = standing_out(X, (rows, columns), 0, 100, 0.5)
    assert np.flatnonzero(alone).tolist() == [137, 500]
    marked = Places(rows.order, rows.sizes, alone=alone)
    for places, highest in ((rows, 0.7), (marked, 5.0)):
        means, _ = pixel_means(X, places, columns, (100, 30))
        assert means.max() == pytest.approx(highest, abs=0.2)
    assert (
        standing_out(X[:50], (Places(np.arange(50), np.array([50])), columns), 0, 100, 0.5) is None
    )


def test_standardised_sparse_and_constant():
    X = np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
    for values in (X, sparse.csr_array(X)):
        result = standardised(values, 0, None)
        np.testing.assert_allclose(result[0], [-0.5774, 1.1547, -0.5774], atol=1e-4)
        assert result[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (-2.3, 2.3, ["\N{MINUS SIGN}2", "\N{MINUS SIGN}1", "0", "1", "2"]),
        (0, 1e9, ["0", "2.0e8", "4.0e8", "6.0e8", "8.0e8", "1.0e9"]),
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ],
)
def test_ticks(low, high, shown):
    assert format_ticks(nice_ticks(low, high)) == shown


def test_text_is_shortened_to_fit():
    text = fitted("a name that is much too long", 7, 0.6)
    assert text.endswith("…")
    assert text_width(text, 7) <= 0.6 < text_width("a name that is much too long", 7)
    text = fitted("a name that is much too long", 7, 0.6, keep_end=True)
    assert text.startswith("a na")
    assert text.endswith("long")
    assert text_width(text, 7) <= 0.6


def test_long_names_that_begin_alike_keep_their_ends(frame, model):
    names = [f"the beginning of this very long name is that of patient {i}" for i in range(59)]
    result = clustermap(frame.set_axis(["short", *names], axis=0), model=model)
    written = [label.get_text() for label in result.axes["heatmap"].get_yticklabels()]
    written = [text for text in written if text]
    assert len(written) > 5
    assert len(set(written)) == len(written)


@pytest.mark.slow
def test_a_large_matrix_is_drawn_in_time(tmp_path):
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 8, 20_000), rng.integers(0, 5, 2000)
    X = rng.normal(size=(8, 5)).astype(np.float32)[rows][:, columns]
    started = time.process_time()
    result = clustermap(
        X, model=Labels(rows, columns), row_annotations={"batch": rng.choice(list("ab"), 20_000)}
    )
    result.save(tmp_path / "x.png", dpi=100)
    assert time.process_time() - started < 10
    assert max(result.axes["heatmap"].images[0].get_array().shape) < 2000


def test_importing_clustermap_from_both_places():
    assert pyrocco.clustermap is pyrocco.plots.clustermap
