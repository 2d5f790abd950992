"""The report without a browser: its numbers, sentences, size and safety."""

import base64
import json
import re
import zlib
from dataclasses import replace
from html import escape
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_hex
from scipy import sparse
from sklearn.exceptions import NotFittedError

from pyrocco import RCC, ROCCO, association
from pyrocco.assign.nested import NestedSide
from pyrocco.plots import clustermap
from pyrocco.plots.order import display_order
from pyrocco.plots.tracks import make_tracks
from pyrocco.report import write_report
from pyrocco.report.annotations import association_sentence
from pyrocco.report.levels import MOST_BLOCKS, level_numbers, levels_of
from pyrocco.report.packing import pack_floats, pack_integers
from pyrocco.report.page_data import make_tiles
from pyrocco.report.sections import convergence, reproducibility, settings
from pyrocco.report.sentences import summary_sentences
from pyrocco.solvers import SpectralSolver

from .conftest import NASTY, Given, planted_matrix


def inflate(text):
    return zlib.decompress(base64.b64decode(text))


def unpack(packed):
    """Unpack numbers as the script of the page does."""
    planes = np.frombuffer(inflate(packed["data"]), dtype="u1").reshape(packed["bytes"], -1)
    found = np.zeros((packed["length"], 4), dtype="u1")
    found[:, 4 - packed["bytes"] :] = planes.T
    return found.view("<f4" if packed["kind"] == "float32" else "<u4").ravel()


def data_of(page):
    found = re.search(r'id="data">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(found[1])


@given(arrays(np.float32, st.integers(1, 40), elements=st.floats(-(2.0**99), 2.0**99, width=32)))
def test_packed_numbers_are_unpacked_unchanged(numbers):
    np.testing.assert_array_equal(unpack(pack_floats(numbers)), numbers)
    half = unpack(pack_floats(numbers, exact=False))
    np.testing.assert_allclose(half, numbers, rtol=2.0**-8, atol=1e-37)
    whole = np.arange(len(numbers)) * 70_001
    np.testing.assert_array_equal(unpack(pack_integers(whole)), whole)


def test_missing_values_stay_missing_when_packed():
    for exact in (True, False):
        again = unpack(pack_floats(np.array([np.nan, 1.0]), exact=exact))
        np.testing.assert_array_equal(again, [np.nan, 1.0])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_tiles_are_means_of_the_sorted_matrix(make):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 30)) < 0.5, 0, rng.standard_normal((50, 30)))
    orders = rng.permutation(50), rng.permutation(30)
    tiles = make_tiles(make(X), orders, side=10)
    # 10 tiles a side, of 5 x 3 cells.
    means = X[orders[0]][:, orders[1]].reshape(10, 5, 10, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(tiles.values, means, atol=1e-12)
    np.testing.assert_allclose(
        make_tiles(make(X), orders).values, X[orders[0]][:, orders[1]], atol=1e-12
    )


def test_tiles_leave_out_missing_values():
    X = np.array([[1.0, np.nan, 5.0, 7.0], [np.nan, np.nan, 5.0, np.nan]])
    weights = np.where(np.isnan(X), np.nan, [[0.5, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    orders = np.arange(2), np.arange(4)
    np.testing.assert_array_equal(make_tiles(X, orders).values, X)
    tiles = make_tiles(X[:, [0, 2, 1, 3]], orders, weights[:, [0, 2, 1, 3]], side=1)
    assert tiles.values[0, 0] == pytest.approx((1 + 5 + 7 + 5) / 4)
    assert tiles.outliers[0, 0] == pytest.approx(0.5 / 8)
    stored = sparse.csr_array(np.nan_to_num(X, nan=-1))
    stored.data[stored.data == -1] = np.nan
    np.testing.assert_allclose(make_tiles(stored, orders).values, X)


def test_a_tall_matrix_keeps_every_row():
    X = np.zeros((5000, 3))
    assert make_tiles(X, (np.arange(5000), np.arange(3))).values.shape == (5000, 3)


def test_levels_are_nested_and_contain_the_fit(planted_page):
    _, model, X, _ = planted_page
    levels = levels_of(model, X)
    np.testing.assert_array_equal(levels.rows[levels.fitted[0]], model.row_labels_)
    np.testing.assert_array_equal(levels.columns[levels.fitted[1]], model.column_labels_)
    for side, tree in ((levels.rows, model.tree_.rows), (levels.columns, model.tree_.columns)):
        assert side[0].max() == 0
        assert side[-1].max() + 1 == tree.n_finest
        for coarse, fine in pairwise(side):
            assert len(np.unique(np.column_stack([fine, coarse]), axis=0)) == fine.max() + 1


def test_every_pair_of_levels_has_the_blocks_of_that_cut(planted_page):
    _, model, X, _ = planted_page
    levels = levels_of(model, X)
    for i, j in ((0, 2), (3, 1), (len(levels.rows) - 1, 0)):
        cut = model.at(int(levels.rows[i].max()) + 1, int(levels.columns[j].max()) + 1)
        table = cut.explain(column_names=range(X.shape[1]))
        blocks = table[table["kind"] == "block"].sort_values(["row_cluster", "column_cluster"])
        found = levels.pairs[i][j].blocks
        for name in ("mean", "rest_mean", "effect", "p_adjusted", "homogeneity"):
            np.testing.assert_allclose(found[name], blocks[name].astype(float), err_msg=name)
        single = table[table["kind"] == "column"]
        lines = levels.distinctive[i].sort_values(["row_cluster", "effect"])
        np.testing.assert_array_equal(
            lines["column"], single.sort_values(["row_cluster", "effect"])["column"].astype(int)
        )
        np.testing.assert_allclose(
            np.sort(levels.pairs[i][j].p_columns), np.sort(single["p_adjusted"])
        )


def test_many_clusters_have_fewer_levels():
    side = NestedSide(np.arange(60), np.zeros((59, 2), dtype=int), np.zeros(59), 12)
    rows, columns = level_numbers(side, side)
    assert sum(rows) * sum(columns) <= MOST_BLOCKS
    assert {1, 12, 60} < set(rows)
    few = NestedSide(np.arange(6), np.zeros((5, 2), dtype=int), np.zeros(5), 3)
    assert level_numbers(few, few)[0] == [1, 2, 3, 4, 5, 6]


def test_the_clusters_of_every_level_are_contiguous_and_ordered_as_in_plots(planted_page):
    path, model, X, _ = planted_page
    data = data_of(path.read_text(encoding="utf-8"))
    orders = unpack(data["rows"]["order"]), unpack(data["columns"]["order"])
    levels = levels_of(model, X)
    for side, order in zip((levels.rows, levels.columns), orders, strict=True):
        for labels in side:
            assert np.count_nonzero(np.diff(labels[order])) == labels.max()
    for labels, order, clusters in zip(
        (model.row_labels_, model.column_labels_), orders, display_order(model), strict=True
    ):
        assert list(dict.fromkeys(labels[order].tolist())) == clusters.tolist()


def test_order_and_colours_are_those_of_the_heat_map(annotated_page):
    path, model, X, annotations = annotated_page
    data = data_of(path.read_text(encoding="utf-8"))
    drawn = clustermap(X, model=model, row_annotations=annotations)
    for side, order in (("row", drawn.row_order), ("column", drawn.column_order)):
        np.testing.assert_array_equal(unpack(data[f"{side}s"]["order"]), order)
        bars = [to_hex(bar.get_facecolor()) for bar in drawn.axes[f"{side}_clusters"].patches]
        labels = getattr(model, f"{side}_labels_")
        expected = [data[f"{side}s"]["colours"][k] for k in dict.fromkeys(labels[order].tolist())]
        assert bars == expected
    about = json.loads(inflate(data["text"]))["annotations"][0]
    tracks = make_tracks([annotations], {})[0]
    for known, track in zip(about, tracks, strict=True):
        assert known["name"] == track.name
        assert known["categories"] == list(track.categories)
        if track.categories:
            assert known["colours"] == [to_hex(colour) for colour in track.colours]


def test_annotations_are_packed_and_tested(annotated_page):
    path, model, _, annotations = annotated_page
    page = path.read_text(encoding="utf-8")
    data = data_of(page)
    group, age = (unpack(packed) for packed in data["rows"]["annotations"])
    names = ["missing", *json.loads(inflate(data["text"]))["annotations"][0][0]["categories"]]
    assert [names[code] for code in group] == annotations.iloc[:, 0].fillna("missing").tolist()
    np.testing.assert_allclose(age, annotations["age"], rtol=1e-6)
    tests = association(model.row_labels_, annotations)
    for test in tests.to_dict("records"):
        assert escape(association_sentence(test, "row")) in page
    assert "The clusters were found without the annotations." in page
    assert NASTY not in page
    assert "column-annotations" not in page


@pytest.mark.parametrize(
    ("p", "effect", "expected"),
    [
        (0.01, 0.5, "drug: associated with the gene clusters (Cramer's V 0.5, adjusted p-value"),
        (0.2, 0.1, "drug: no association with the gene clusters was found (Cramer's V 0.1,"),
        (0.2, np.nan, "drug: no association with the gene clusters was found (adjusted p-value"),
        (0.0, 1.0, "adjusted p-value below 1e-300)."),
    ],
)
def test_sentences_about_associations(p, effect, expected):
    test = {"annotation": "drug", "test": "chi-squared", "kind": "category"}
    assert expected in association_sentence({**test, "p_adjusted": p, "effect": effect}, "gene")


def test_an_annotation_that_cannot_be_tested():
    test = association([0, 0], pd.Series(["a", "b"], name="drug")).iloc[0]
    assert association_sentence(test, "row").startswith("drug: not tested, because there is only")


def test_different_units_are_scaled_in_the_heat_map_only(tmp_path):
    rng = np.random.default_rng(0)
    units = np.repeat([1.0, 1e4], 10)
    X = (np.repeat(np.eye(2) * 4, 20, 0)[:, np.arange(20) % 2] + rng.random((40, 20))) * units
    model = ROCCO().fit(X)
    assert model.cells_ == "different units"
    write_report(tmp_path / "a.html", model, X)
    data = data_of((tmp_path / "a.html").read_text("utf-8"))
    order = unpack(data["rows"]["order"]), unpack(data["columns"]["order"])
    drawn = unpack(data["tiles"]["values"]).reshape(X.shape)
    scaled = (X - X.mean(0)) / X.std(0, ddof=1)
    np.testing.assert_allclose(drawn, scaled[np.ix_(*order)], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(unpack(data["tiles"]["means"]), X.mean(0), rtol=1e-6)
    np.testing.assert_allclose(unpack(data["tiles"]["deviations"]), X.std(0, ddof=1), rtol=1e-6)
    means = json.loads(inflate(data["text"]))["levels"]["pairs"]
    fitted = means[data["fitted"][0]][data["fitted"][1]]["means"]
    np.testing.assert_allclose(fitted, model.block_means_, rtol=1e-3)


def test_the_page_is_one_file_and_is_reproducible(planted_page, tmp_path):
    path, model, X, names = planted_page
    page = path.read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "http" not in page.replace('http-equiv="Content', "")
    again = tmp_path / "again.html"
    for _ in range(2):
        write_report(again, model, X, **names, summary={"input": "x"})
        first = again.read_bytes()
    write_report(again, ROCCO().fit(X), X, **names, summary={"input": "x"})
    text = re.sub(rb"<td>[^<]*</td></tr></tbody>", b"", again.read_bytes())  # seconds of the fit
    assert text == re.sub(rb"<td>[^<]*</td></tr></tbody>", b"", first)


def test_names_cannot_become_html(planted_page):
    page = planted_page[0].read_text(encoding="utf-8")
    assert NASTY not in page
    assert "<img" not in page
    assert page.count("</script>") == 3
    about = json.loads(inflate(data_of(page)["text"]))
    assert about["rows"][7] == NASTY


def test_text_that_looks_like_a_marker_stays_text(tmp_path):
    X, _, _ = planted_matrix()
    path = tmp_path / "report.html"
    write_report(path, Given(X.shape), X, summary={"input": "{{data}}"})
    assert '<h1 id="summary-title">{{data}}</h1>' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.ndarray.tolist]
)
def test_every_form_of_a_matrix_gives_the_same_page(tmp_path, form):
    X = np.random.default_rng(0).poisson(0.7, (30, 20))
    write_report(tmp_path / "a.html", Given(X.shape), X)
    write_report(tmp_path / "b.html", Given(X.shape), form(X))
    a, b = (data_of((tmp_path / name).read_text("utf-8")) for name in ("a.html", "b.html"))
    np.testing.assert_allclose(
        unpack(a["tiles"]["values"]), unpack(b["tiles"]["values"]), rtol=1e-6
    )


def test_names_of_a_data_frame_are_used(tmp_path):
    X, rows, columns = planted_matrix()
    frame = pd.DataFrame(X, index=rows, columns=columns)
    write_report(tmp_path / "a.html", ROCCO(2).fit(frame), frame)
    write_report(tmp_path / "b.html", Given(X.shape), X)
    about = json.loads(inflate(data_of((tmp_path / "a.html").read_text("utf-8"))["text"]))
    assert (about["rows"], about["columns"]) == (rows, columns)
    about = json.loads(inflate(data_of((tmp_path / "b.html").read_text("utf-8"))["text"]))
    assert about["rows"][:2] == ["row_0", "row_1"]


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_any_unit(tmp_path, unit):
    X, _, _ = planted_matrix()
    write_report(tmp_path / "a.html", Given(X.shape), X * unit)
    tiles = data_of((tmp_path / "a.html").read_text("utf-8"))["tiles"]
    values = np.sort(unpack(tiles["values"]).astype(float)) * tiles["unit"]
    np.testing.assert_allclose(values, np.sort(X.ravel()) * unit, rtol=1e-6)


def test_outlier_cells_do_not_determine_the_colours(tmp_path):
    X, _, _ = planted_matrix()
    model = Given(X.shape)
    model.cell_weights_ = np.where(np.arange(X.size).reshape(X.shape) % 20 == 0, 0.0, 1.0)
    with_outliers = np.where(model.cell_weights_ < 0.5, 1e4, X)
    write_report(tmp_path / "a.html", model, with_outliers)
    tiles = data_of((tmp_path / "a.html").read_text("utf-8"))["tiles"]
    assert tiles["high"] < 10
    model.cell_weights_ = np.zeros_like(X)
    write_report(tmp_path / "a.html", model, with_outliers)
    assert data_of((tmp_path / "a.html").read_text("utf-8"))["tiles"]["high"] == 1e4


def test_a_large_matrix_fits_into_five_megabytes(tmp_path):
    X = np.random.default_rng(0).standard_normal((10_000, 2_000), dtype=np.float32)
    names = [f"ENSG{i:011d}.{i % 17}" for i in range(12_000)]
    path = tmp_path / "report.html"
    write_report(
        path, Given(X.shape, 40), X, row_names=names[:10_000], column_names=names[10_000:]
    )
    assert path.stat().st_size < 4_000_000  # explanations and levels come on top
    tiles = data_of(path.read_text("utf-8"))["tiles"]
    assert tiles["shape"] == [1000, 1000]


def test_errors_explain_wrong_input(tmp_path):
    X, rows, _ = planted_matrix()
    path = tmp_path / "report.html"
    with pytest.raises(NotFittedError):
        write_report(path, ROCCO(), X)
    with pytest.raises(TypeError, match="RCC clusters only the rows"):
        write_report(path, RCC().fit(X), X)
    model = Given(X.shape)
    with pytest.raises(ValueError, match=r"90 x 36 .* 90 x 35: pass the matrix of the fit"):
        write_report(path, model, X[:, 1:])
    with pytest.raises(ValueError, match=r"90 rows, but row_names has 89"):
        write_report(path, model, X, row_names=rows[1:])
    assert not path.exists()


def test_sentences_describe_the_model():
    X, _, _ = planted_matrix()
    model = ROCCO((4, None)).fit(X.copy())
    model.cell_weights_ = np.ones_like(X)
    model.cell_weights_[0, :3] = 0.2
    X[5, :9] = np.nan
    model.row_membership_[:2] = 0.3
    assert "The fit took 1.23 seconds." in summary_sentences(model, X, {"seconds": 1.234})
    assert not model.has_representation_
    assert model.converged_
    model._answers.represented = replace(model._answers.represented, converged=False)
    text = " ".join(summary_sentences(model, X, {"seconds": 1.234}))
    assert "The number of row clusters was given; the number of column clusters was" in text
    assert "The membership probability of 2 rows is below 50 %: another cluster may" in text
    assert "3 outlier cells (0.093 %) were found" in text
    assert "9 values (0.28 %) are missing" in text
    assert f"The cells are real values. {model.preparation_}" in text
    assert "did not converge within" in text
    assert " in 1.23 seconds" in text
    both_given = summary_sentences(ROCCO(2).fit(X[10:]), X[10:], {})
    assert "Both numbers of clusters were given." in both_given


def test_sentences_say_what_membership_is_and_what_was_not_measured():
    X, _, _ = planted_matrix()
    model = ROCCO((4, 3)).fit(X)
    text = " ".join(summary_sentences(model, X, {}))
    assert "Membership is the probability of a label under the fitted model; it does not" in text
    assert "pyrocco fit with --reproducibility 20" in text
    measured = " ".join(summary_sentences(model, X, {"reproducibility": {}}))
    assert "--reproducibility" not in measured


def test_reproducibility_is_a_sentence_and_two_tables():
    cluster = {"cluster": 0, "size": 9, "found_again_other_rows": 0.25, "null": 0.125}
    found = {"summary": NASTY, "rows": [{**cluster, "p_value": 0.0625}], "columns": [cluster]}
    text = reproducibility(found)
    assert NASTY not in text
    assert "<td>0</td><td>9</td><td>0.25</td><td>None</td><td>0.125</td><td>0.0625</td>" in text
    assert text.count("<tr>") == 4
    assert reproducibility(None) == ""


def test_settings_name_objects_without_their_address():
    text = settings(
        ROCCO((2, None), solver=SpectralSolver()), {"density": 1 / 3, "cells": "counts"}
    )
    assert "<dt>solver</dt><dd>SpectralSolver</dd>" in text
    assert "<dt>n_clusters</dt><dd>2, None</dd>" in text
    assert "<dd>0.3333</dd>" in text
    assert "<dt>cells</dt><dd>counts</dd>" in text


def test_convergence_is_plotted_if_there_are_several_iterations():
    record = {"solver": "spectral", "residual": 1e-9, "seconds": 0.1}
    history = [{"iteration": i, "objective": 10.0 ** (9 - i), **record} for i in range(1, 9)]
    drawing = convergence(history)
    heights = [float(point.split(",")[1]) for point in _points(drawing)]
    np.testing.assert_allclose(np.diff(heights, 2), 0, atol=0.11)  # a line, in logarithms
    assert drawing.count("<tr>") == 9
    assert "<svg" not in convergence(history[:1])
    assert "does not record" in convergence(None)
    assert "without learning a representation" in convergence([])
    flat = [{"iteration": i, "objective": 0.0} for i in range(1, 6)]
    assert "Logarithmic" not in convergence(flat)


def _points(drawing):
    return re.search(r'points="([^"]+)"', drawing)[1].split()


def _luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("theme", [0, 1])
def test_text_has_contrast_in_both_themes(theme):
    style = (files("pyrocco.report") / "assets" / "page.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", style.split("}")[theme]))
    for ink in ("ink", "muted", "accent"):
        for paper in ("paper", "wash"):
            light, dark = sorted((_luminance(colours[ink]), _luminance(colours[paper])))[::-1]
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, paper)
