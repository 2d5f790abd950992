"""Verdicts on the printed numbers."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.paper import RESULTS
from benchmarks.paper.datasets.real import sublinear
from benchmarks.paper.verdict_page import verdicts_text
from benchmarks.paper.verdicts import read_frames, rocco_cells, verdict
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


def test_the_numbers_on_exactly_the_papers_data_are_counted():
    exact = [cell for cell in rocco_cells() if cell.exact]
    assert len(exact) == 3 * 2 * 2 + 2 + 3 * 3


def test_the_page_agrees_with_the_results():
    page = (RESULTS / "verdicts.md").read_text(encoding="utf-8")
    assert verdicts_text(read_frames(RESULTS)) == page


def test_text_of_large_norm():
    counts = sparse.csr_matrix([[1.0, 3.0, 0.0], [0.0, 2.0, 0.0]])
    found = sublinear(counts).toarray()
    expected = [[np.log(2) * np.log(2), 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(found, expected)
