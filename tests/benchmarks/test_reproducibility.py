"""The page that compares reproducibility and membership with the truth."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality import reproducibility as benchmark
from scipy import sparse


@pytest.fixture
def frame():
    """Six sets of text in two preparations: the score follows the truth, membership opposes it."""
    truth = np.linspace(0.1, 0.9, 12)
    return pd.DataFrame(
        {
            "set": np.repeat(list("abcdef"), 2),
            "kind": "text",
            "preparation": ["none", "automatic"] * 6,
            "n_clusters": 3,
            "ami": truth,
            "membership": 1 - truth,
            "other_rows": truth,
            "other_columns": 0.5,
            "row_score": truth**2,
        }
    )


def test_measures_are_compared_across_and_within_sets(frame):
    assert benchmark.correlation(frame, "row_score") == pytest.approx(1)
    assert benchmark.correlation(frame, "membership") == pytest.approx(-1)
    assert benchmark.within_sets(frame, "row_score") == 1
    assert benchmark.within_sets(frame, "membership") == 0
    assert benchmark.within_sets(frame, "other_columns") == 0.5
    assert benchmark.usual(frame)["preparation"].tolist() == ["automatic"] * 6


def test_the_page_shows_intervals_and_all_fits(frame, monkeypatch):
    monkeypatch.setattr(benchmark, "N_DRAWS", 20)
    page = benchmark.page(frame.assign(other_columns=frame["ami"]))
    assert "6 labelled matrices" in page
    assert "`row_score`: the smaller of both | 1.00 (1.00 to 1.00)" in page
    assert page.count("| text |") == 13  # twelve fits, and the row of the kind


def test_the_documentation_shows_the_lines_of_the_page():
    page = benchmark.PAGE.read_text(encoding="utf-8")
    docs = benchmark.DOCS_PAGE.read_text(encoding="utf-8")
    lines = benchmark.main_lines(page)
    assert len(lines.splitlines()) == 5
    assert f"<!-- measures -->\n{lines}\n<!-- end -->" in docs
    stored = list(map(json.loads, benchmark.STORE.read_text(encoding="utf-8").splitlines()))
    size = f"{len(stored)} fits of {len({one['set'] for one in stored})} matrices"
    assert size in docs
    assert f": {len(stored)} fits." in page


def test_files_are_read_and_prepared_by_kind(tmp_path):
    counts = np.random.default_rng(0).poisson(2.0, (700, 30)).astype(float)
    y = np.arange(700)
    csr = sparse.csr_array(counts)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}
    np.savez(tmp_path / "words.npz", **parts, shape=np.array(csr.shape), y=y)
    np.savez(tmp_path / "genes.npz", X=counts + 0.5, y=y)
    np.savez(tmp_path / "cells.npz", X=counts, y=y)
    found = {
        name: benchmark.read(tmp_path / f"{name}.npz") for name in ("words", "genes", "cells")
    }
    assert {name: data.kind for name, data in found.items()} == {
        "words": "text",
        "genes": "genes",
        "cells": "cells",
    }
    assert found["words"].X.shape == (600, 30)
    np.testing.assert_array_equal(np.sort(found["cells"].X, axis=None)[-5:], np.sort(
        counts[found["cells"].y], axis=None)[-5:])  # fmt: skip
    expected = ["automatic", "z-scores", "log", "none"]
    assert benchmark.preparations(found["genes"]) == expected
    found["genes"].X[0, 0] = 0.0
    expected.remove("log")
    assert benchmark.preparations(found["genes"]) == expected


def test_a_fit_is_measured_with_its_preparation():
    counts = np.random.default_rng(0).poisson(3.0, (40, 30)) * np.repeat([1, 4], 20)[:, None]
    data = benchmark.Labelled("planted", "cells", counts.astype(float), np.repeat([0, 1], 20))
    plain, automatic = (benchmark.measure(data, name) for name in ("none", "automatic"))
    assert plain.preparation == "none"
    assert plain.ami == 1  # the totals of the rows, which the automatic preparation removes
    assert automatic.ami < 0.5
