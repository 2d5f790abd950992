"""Facts about values, and the preparation recommended for data of known kinds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

from pyrocco.inspection import (
    advise,
    estimate_cost,
    gather_facts,
    look_like_genes,
    look_like_words,
)
from pyrocco.prepare import log1p, normalize, tfidf, zscore

rng = np.random.default_rng(0)
# Counts as of a sequencer: genes of very different frequency, cells of different depth.
COUNTS = rng.poisson(np.outer(rng.gamma(4, 0.3, 300), rng.lognormal(-2, 1.5, 80))).astype(float)
GENES = [f"ENSG{i:011d}" for i in range(80)]
WORDS = ["".join(chr(97 + (i // 26**k) % 26) for k in range(3)) for i in range(80)]
CELLS = [f"cell_{i}" for i in range(300)]

KINDS = {
    "counts": (COUNTS, "counts", ("normalize", "log1p")),
    "normalised counts": (normalize(COUNTS), "long-tailed", ("log1p",)),
    "logged counts": (log1p(normalize(COUNTS)), "logarithms", ()),
    "tf-idf": (tfidf(COUNTS), "tf-idf", ()),
    "scaled": (zscore(COUNTS), "scaled", ()),
    "yes or no": ((COUNTS > 0).astype(float), "yes or no", ()),
    "marks": (rng.integers(1, 6, (300, 80)).astype(float), "marks", ()),
    "measurements in different units": (load_breast_cancer().data, "different units", ("zscore",)),
    "measurements in centimetres": (load_iris().data, "one scale", ()),
    "log ratios": (rng.normal(size=(300, 80)) * 3 - 1, "one scale", ()),
}


@pytest.mark.parametrize("case", KINDS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_recommends_what_the_data_needs(case, form, dtype):
    X, kind, steps = KINDS[case]
    advice = advise(gather_facts(form(X.astype(dtype))))
    assert (advice.kind, advice.steps, advice.transpose) == (kind, steps, False)


def test_what_is_recommended_is_enough():
    X = log1p(normalize(COUNTS))
    assert advise(gather_facts(X)).steps == ()
    assert advise(gather_facts(zscore(load_breast_cancer().data))).steps == ()


def test_genes_and_words_are_recognised_by_their_names():
    assert advise(gather_facts(COUNTS), CELLS, GENES).kind == "counts of genes"
    words = advise(gather_facts(COUNTS), CELLS, WORDS)
    assert (words.kind, words.steps) == ("counts of words", ("tfidf",))


def test_genes_in_rows_are_to_be_columns():
    advice = advise(gather_facts(COUNTS.T), GENES, CELLS)
    assert (advice.kind, advice.steps) == ("counts of genes", ("normalize", "log1p"))
    assert advice.transpose
    assert not advise(gather_facts(zscore(COUNTS).T), GENES, CELLS).transpose


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ENSMUSG00000000001", "ENSMUSG00000000003.2"], True),
        (["Actb", "Gapdh", "Rpl13a", "sample"], True),
        (["RPS6", "MT-CO1", "x", "B2M"], True),
        (["TP53", "liver", "heart"], False),
        ([], False),
    ],
)
def test_genes(names, expected):
    assert look_like_genes(names) == expected


def test_words():
    assert look_like_words(WORDS)
    assert not look_like_words(CELLS)
    assert not look_like_words(WORDS[:10])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_facts(form):
    X = np.array([[0.0, -2.0, np.nan], [4.0, 0.0, 1.0]])
    facts = gather_facts(form(X))
    assert (facts.n_rows, facts.n_columns, facts.n_missing) == (2, 3, 1)
    assert facts.density == 3 / 6
    assert (facts.minimum, facts.maximum) == (-2, 4)
    assert facts.mean == pytest.approx(3 / 5)
    assert facts.is_whole
    assert not gather_facts(form(X + 0.5)).is_whole


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_facts_with_missing_values(form):
    X = zscore(COUNTS)
    X[rng.random(X.shape) < 0.1] = np.nan
    facts = gather_facts(form(zscore(X)))
    assert facts.has_unit_columns
    assert facts.n_missing == np.isnan(X).sum()


def test_cost_grows_with_both_sides_and_is_about_right():
    small, long, wide = (
        estimate_cost(*shape) for shape in ((1000, 100), (9000, 100), (1000, 900))
    )
    assert small.seconds < min(long.seconds, wide.seconds)
    assert small.memory < long.memory == wide.memory
    # benchmarks/speed/results/growth_refined.md
    for rows, seconds in ((10_000, 0.988), (50_000, 7.47), (100_000, 17.6)):
        assert seconds / 3 < estimate_cost(rows, 100, 4).seconds < seconds * 3
    assert str(estimate_cost(10**6, 10**4)).startswith("about ")
