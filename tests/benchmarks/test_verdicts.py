"""Verdicts on the printed numbers."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.paper import RESULTS
from benchmarks.paper.datasets.real import sublinear
from benchmarks.paper.verdict_page import verdicts_text
from benchmarks.paper.verdicts import (
    PrintedCell,
    count,
    other_classic3_cells,
    read_frames,
    rocco_cells,
    share,
    verdict,
)
from scipy import sparse


@pytest.mark.parametrize(
    ("measured", "spread", "found"),
    [
        ([0.52], 0.0, "reproduced"),
        ([0.53], 0.0, "close"),
        ([0.53], 0.04, "reproduced"),
        ([0.56], 0.0, "not reproduced"),
        ([], 0.0, "not computed"),
    ],
)
def test_the_verdict_depends_on_the_difference(measured, spread, found):
    values = pd.Series(measured, dtype=float)
    assert verdict(0.5, values, exact=True, spread=spread) == found


def test_other_data_have_no_verdict():
    assert verdict(0.5, pd.Series([0.5]), exact=False) == "other data"


@pytest.fixture
def printed():
    def cell(experiment, **changes):
        where = {"dataset": "glioma", "method": "rocco_paper", "column": "row_ami_max"}
        return PrintedCell("", "", "AMI", 0.5, experiment, **(where | changes))

    return cell


@pytest.fixture
def frames():
    rows = [
        ("glioma", "rocco_paper", "", score) for score in (0.53, 0.55, 0.51, 0.55)
    ] + [
        ("glioma", "rocco_paper", '{"metric": "cosine"}', 0.9),
        ("glioma", "rocco_paper", "", np.nan),  # out of time
        ("glioma", "rocco", "", 0.1),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["dataset", "method", "options", "row_ami_max"])
    return {"table1": frame, "fig3": frame}


def test_a_cell_is_compared_with_its_own_results(printed, frames):
    assert printed("table1").measured(frames).tolist() == [0.53, 0.55, 0.51, 0.55]
    cosine = printed("table1", options='{"metric": "cosine"}')
    assert cosine.measured(frames).tolist() == [0.9]


def test_the_spread_of_planted_matrices_is_that_of_their_mean(printed, frames):
    values = printed("table1").measured(frames)
    assert printed("table1").spread(values) == pytest.approx(np.std(values, ddof=1))
    assert printed("fig3").spread(values) == pytest.approx(np.std(values, ddof=1) / 2)
    assert printed("table1").spread(values[:1]) == 0


def test_the_share_counts_only_the_papers_data(printed, frames):
    cells = [
        printed("table1"), printed("table1", exact=False), printed("table1", dataset="lung"),
        printed("table1", method="rocco"),
    ]  # fmt: skip
    said = share(cells, frames)
    assert "Of the 3 numbers" in said
    assert "0 are reproduced, 1 close, 1 not reproduced, 1 not computed: 33 %" in said


def test_the_numbers_on_exactly_the_papers_data_are_counted():
    exact = [cell for cell in rocco_cells() if cell.exact]
    assert len(exact) == 3 * 2 * 2 + 2 + 3 * 3


@pytest.mark.parametrize(("given", "method"), [(True, "rocco_paper+km"), (False, "rocco_paper")])
def test_the_number_of_clusters_in_figure_4_is_that_of_classic3_only(given, method):
    figure = [cell for cell in rocco_cells(fig4_given=given) if cell.where.startswith("Fig. 4")]
    assert {(cell.dataset, cell.method) for cell in figure} == {
        ("classic3", method), ("carcinom", "rocco_paper"),
    }  # fmt: skip
    assert {cell.options for cell in figure} == {
        f'{{"metric": "{metric}"}}' for metric in ("euclidean", "manhattan", "cosine")
    }


def test_the_other_readings_of_classic3_are_all_that_the_main_table_lacks():
    others = other_classic3_cells()
    assert len(others) == len(set(others)) == 2 * 2 + 3 * 3 * 3
    keys = {(cell.where, cell.dataset, cell.method, cell.options, cell.score) for cell in others}
    assert len(keys) == len(others)
    for cell in rocco_cells():
        where = (cell.where, cell.dataset, cell.method, cell.options, cell.score)
        assert where not in keys


def test_most_printed_numbers_of_rocco_are_reproduced_or_close():
    good, total = count(rocco_cells(), read_frames(RESULTS))
    assert total == 23
    assert good / total >= 2 / 3


def test_the_page_agrees_with_the_results():
    page = (RESULTS / "verdicts.md").read_text(encoding="utf-8")
    assert verdicts_text(read_frames(RESULTS)) == page


def test_text_of_large_norm():
    counts = sparse.csr_matrix([[1.0, 3.0, 0.0], [0.0, 2.0, 0.0]])
    found = sublinear(counts).toarray()
    expected = [[np.log(2) * np.log(2), 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(found, expected)
