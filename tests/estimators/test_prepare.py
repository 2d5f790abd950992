"""``ROCCO(prepare=...)``: the same clusters as for values prepared by hand, in given units."""

import pickle
from contextlib import suppress

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import pyrocco
from pyrocco import ROCCO
from pyrocco.backends import ScratchStore, cpu_backend
from pyrocco.checkpoint import CheckpointError, checkpoint_to
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.fitting import memory_plan
from pyrocco.fitting.engines import ChunkedEngine, Given, MemoryEngine, engine_for
from pyrocco.fitting.settings import Settings
from pyrocco.inspection import Cells, read_kind
from pyrocco.prepare import PREPARATIONS, prepare

RNG = np.random.default_rng(0)
ROWS, COLUMNS = np.arange(90) % 3, np.arange(60) % 3
DEPTHS = RNG.gamma(9, 1 / 9, (90, 1))
COUNTS = RNG.poisson(np.where(ROWS[:, None] == COLUMNS, 30.0, 6.0) * DEPTHS).astype(float)
TEXTS = RNG.poisson(np.where(ROWS[:, None] == COLUMNS, 0.9, 0.05) * DEPTHS).astype(float)
INTENSITIES = np.exp(np.where(ROWS[:, None] == COLUMNS, 4.0, 1.0) + RNG.normal(size=(90, 60)))
RATINGS = np.clip(np.rint(np.where(ROWS[:, None] == COLUMNS, 4.0, 2.0) + DEPTHS), 1, 5)
RATINGS[RNG.random(RATINGS.shape) < 0.5] = np.nan
UNITS = make_noisy_biclusters((90, 60), 3, noise=5, random_state=0).X * np.logspace(0, 3, 60)
OFFSET = make_noisy_biclusters((90, 60), 3, noise=5, random_state=0).X + 1e7

# Each with its kind and the preparation that it needs.
COUNT_STEPS = ["normalize", "log1p", "balance"]
DATA = {
    "counts": (COUNTS, "counts", COUNT_STEPS),
    "texts": (TEXTS, "counts", COUNT_STEPS),
    "intensities": (INTENSITIES, "positive values", ["log"]),
    "ratings": (RATINGS, "marks", ["center_rows", "scale_rows"]),
    "units": (UNITS, "different units", ["zscore"]),
    "offset": (OFFSET, "real values", ["center"]),
}


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def means_over_blocks(X, model):
    blocks = pd.DataFrame(X).groupby(model.row_labels_).sum().T.groupby(model.column_labels_).sum()
    counts = pd.DataFrame(~np.isnan(X)).groupby(model.row_labels_).sum()
    return (blocks / counts.T.groupby(model.column_labels_).sum()).T.to_numpy()


# Counts are also compared with Poisson noise, for which preparing them by hand is not enough.
NOT_COUNTED = [case for case in DATA if DATA[case][1] != "counts"]


@pytest.mark.parametrize("case", ["counts", "texts"])
def test_counts_are_prepared_for_rows_and_for_columns(case):
    X, kind, names = DATA[case]
    model = ROCCO().fit(X)
    assert (model.cells_, list(model.found_cells_.steps)) == (kind, names)
    assert "Columns are compared in the same way" in model.preparation_
    assert adjusted_rand_score(ROWS, model.row_labels_) > 0.95
    assert adjusted_rand_score(COLUMNS, model.column_labels_) > 0.95
    flipped = ROCCO().fit(np.ascontiguousarray(X.T))
    np.testing.assert_array_equal(flipped.row_labels_, model.column_labels_)
    np.testing.assert_array_equal(flipped.column_labels_, model.row_labels_)


@pytest.mark.parametrize("case", NOT_COUNTED)
def test_the_kind_decides_and_the_clusters_are_those_of_prepared_values(case):
    X, kind, names = DATA[case]
    model = ROCCO().fit(X)
    by_hand = ROCCO(prepare=None).fit(prepare(X, names))
    assert model.cells_ == kind
    assert model.preparation_.startswith("The fit ")
    assert ", because " in model.preparation_
    np.testing.assert_array_equal(model.row_labels_, by_hand.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, by_hand.column_labels_)
    named = ROCCO(prepare=names).fit(X)
    np.testing.assert_array_equal(named.row_labels_, model.row_labels_)
    assert named.preparation_.endswith(", as asked.")


@pytest.mark.parametrize("case", DATA)
def test_cells_that_were_found_are_used_again(case, tmp_path):
    X = DATA[case][0]
    model = ROCCO().fit(X)
    cells = model.found_cells_
    assert cells == read_kind(X)
    again = ROCCO(prepare=cells).fit(X)
    np.testing.assert_array_equal(again.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(again.column_membership_, model.column_membership_)
    again.save(tmp_path / "model.pyrocco")
    loaded = pyrocco.load(tmp_path / "model.pyrocco")
    assert loaded.found_cells_ == loaded.prepare == cells


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (Cells("numbers", (), ""), "kind of the cells must be one of 'real values'"),
        (Cells("counts", ("sqrt",), ""), "one or several of complement"),
    ],
)
def test_cells_are_checked(cells, words):
    with pytest.raises(ValueError, match=words):
        ROCCO(prepare=cells).fit(COUNTS)


@pytest.mark.parametrize("case", DATA)
def test_results_are_in_the_units_of_the_data(case):
    X, _, names = DATA[case]
    model = ROCCO().fit(X)
    by_hand = ROCCO(prepare=None).fit(prepare(X, names))
    if model.cell_weights_ is None:
        np.testing.assert_allclose(model.block_means_, means_over_blocks(X, model), rtol=1e-9)
    np.testing.assert_allclose(model.at().block_means_, model.block_means_, rtol=1e-7)
    # The representation is that of the prepared values, undone.
    again = model._answers.preparation.apply(model.representation_)
    if case != "counts":  # by hand, Poisson noise of logarithms looks like outlier cells
        np.testing.assert_allclose(again, by_hand.representation_, rtol=1e-6, atol=1e-6)
    assert np.nanmin(X) / 2 < np.median(model.representation_) < np.nanmax(X)
    explained = model.explain(top=0)
    assert explained["mean"].max() == pytest.approx(model.block_means_.max(), rel=1e-6)
    by_cluster = pd.DataFrame(X.T).groupby(model.column_labels_).mean().T
    np.testing.assert_allclose(model.transform(X), by_cluster)


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_new_data_are_prepared_as_in_the_fit(case, form, tmp_path):
    X, _, names = DATA[case]
    fitted, new = form(X[:70]), form(X[70:])
    model = ROCCO().fit(fitted)
    np.testing.assert_array_equal(model.predict(fitted), model.row_labels_)
    np.testing.assert_array_equal(model.predict_columns(fitted), model.column_labels_)
    assert (model.place_columns(form(X[:70, :9]))["label"] == model.column_labels_[:9]).all()
    placed = model.place(new)
    if case in NOT_COUNTED:
        by_hand = ROCCO(prepare=None).fit(prepare(X[:70], names))
        expected = by_hand.place(model._answers.preparation.for_new_rows(X[70:]).apply(X[70:]))
        pd.testing.assert_frame_equal(placed, expected, rtol=1e-5, atol=1e-7)
    else:
        assert adjusted_rand_score(ROWS[70:], placed["label"]) > 0.8
    model.save(tmp_path / "model.pyrocco")
    for other in (pyrocco.load(tmp_path / "model.pyrocco"), pickle.loads(pickle.dumps(model))):
        pd.testing.assert_frame_equal(other.place(new), placed)
        assert (other.cells_, other.preparation_) == (model.cells_, model.preparation_)
        np.testing.assert_allclose(other.statistics_.scale, model.statistics_.scale)


@pytest.mark.parametrize("case", DATA)
def test_new_rows_may_have_missing_values(case):
    X = DATA[case][0]
    model = ROCCO().fit(X[:70])
    new = np.where(np.random.default_rng(0).random((20, 60)) < 0.2, np.nan, X[70:])
    expected = model.predict(X[70:])
    assert adjusted_rand_score(model.predict(new), expected) > 0.5
    assert np.isinf(model.place(np.full((1, 60), np.nan))["distance"][0])


def test_missing_values_are_imputed_in_the_units_of_the_data():
    hidden = np.random.default_rng(1).random(INTENSITIES.shape) < 0.1
    X = np.where(hidden, np.nan, INTENSITIES)
    model = ROCCO().fit(X)
    imputed = model.impute(X)
    np.testing.assert_array_equal(imputed[~hidden], INTENSITIES[~hidden])
    errors = np.log(imputed[hidden]) - np.log(INTENSITIES[hidden])
    assert np.sqrt(np.mean(errors**2)) < 1.3  # the noise has 1, the blocks differ by 3


@pytest.mark.filterwarnings("ignore:Every value of")
@pytest.mark.parametrize("prepare", ["auto", "balance", "zscore", "center_rows", "log1p"])
def test_empty_rows_and_columns(prepare):
    X = COUNTS.copy()
    X[5], X[:, 7] = np.nan, np.nan
    model = ROCCO(prepare=prepare).fit(X)
    without = np.delete(np.delete(COUNTS, 5, axis=0), 7, axis=1)
    expected = ROCCO(prepare=prepare).fit(without)
    np.testing.assert_array_equal(np.delete(model.row_labels_, 5), expected.row_labels_)
    np.testing.assert_allclose(model.block_means_, expected.block_means_)
    representation = np.delete(np.delete(model.representation_, 5, axis=0), 7, axis=1)
    np.testing.assert_allclose(representation, expected.representation_, rtol=1e-6)
    assert np.isfinite(model.representation_).all()
    np.testing.assert_array_equal(model.predict(X)[6:], model.row_labels_[6:])


@pytest.mark.parametrize("prepare", ["auto", *PREPARATIONS])
def test_weights_count_as_copies(prepare):
    X = {"log": COUNTS + 1, "complement": (COUNTS > 10) * 1.0}.get(prepare, COUNTS)
    weights = np.random.default_rng(0).integers(0, 3, 90)
    model = ROCCO(prepare=prepare).fit(X, sample_weight=weights)
    copies = ROCCO(prepare=prepare).fit(np.repeat(X, weights, axis=0))
    first = (np.cumsum(weights) - weights)[weights > 0]
    np.testing.assert_array_equal(model.row_labels_[weights > 0], copies.row_labels_[first])
    np.testing.assert_allclose(model.block_means_, copies.block_means_, rtol=1e-9)
    fitted = model.representation_[weights > 0]
    np.testing.assert_allclose(fitted, copies.representation_[first], rtol=1e-6, atol=1e-9)
    assert len(model.predict(X)) == 90


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("case", ["texts", "units", "offset"])
def test_dask_arrays_are_prepared_like_arrays(case, wide):
    X = np.ascontiguousarray(DATA[case][0].T) if wide else DATA[case][0]
    model = ROCCO().fit(X)
    chunked = ROCCO().fit(da.from_array(X, chunks=(17, -1)))
    assert (chunked.cells_, chunked.preparation_) == (model.cells_, model.preparation_)
    np.testing.assert_array_equal(chunked.row_labels_.compute(), model.row_labels_)
    np.testing.assert_array_equal(chunked.column_labels_, model.column_labels_)
    np.testing.assert_allclose(chunked.block_means_, model.block_means_)
    U = chunked.representation_.compute()
    np.testing.assert_allclose(U, model.representation_, rtol=1e-6, atol=1e-6 * np.abs(U).max())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("wide", [False, True])
def test_chunks_in_files_are_prepared_like_arrays(monkeypatch, form, wide):
    X = form(np.ascontiguousarray(TEXTS.T) if wide else TEXTS)
    model = ROCCO().fit(X)
    for name in ("BASE", "EDGE_BYTES", "ROW_BYTES", "LEAST_WORK"):
        monkeypatch.setattr(memory_plan, name, 0)
    monkeypatch.setattr(memory_plan, "COPIES", 1e9)
    limited = ROCCO(memory_limit=200_000)
    assert isinstance(engine_for(Given(X), Settings.of(limited.get_params())), ChunkedEngine)
    limited.fit(X)
    np.testing.assert_array_equal(limited.row_labels_, model.row_labels_)
    np.testing.assert_allclose(limited.block_means_, model.block_means_)
    np.testing.assert_allclose(limited.representation_, model.representation_, atol=1e-3)
    new = form(dense(X)[:20] + 1)
    np.testing.assert_array_equal(limited.predict(new), model.predict(new))
    np.testing.assert_array_equal(limited.predict_columns(X), model.column_labels_)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("chunked", [False, True])
def test_columns_may_be_prepared_in_another_way(monkeypatch, wide, chunked, tmp_path):
    X = make_noisy_biclusters((60, 260) if wide else (260, 60), 3, noise=5, random_state=0).X
    X = X * np.linspace(1, 9, X.shape[1])
    rows, columns = ROCCO(prepare="center").fit(X), ROCCO(prepare="zscore").fit(X)
    if chunked:
        for name in ("BASE", "EDGE_BYTES", "ROW_BYTES", "LEAST_WORK"):
            monkeypatch.setattr(memory_plan, name, 0)
        monkeypatch.setattr(memory_plan, "COPIES", 1e9)
    cells = Cells("real values", ("center",), "As asked.", column_steps=("zscore",))
    model = ROCCO(prepare=cells, memory_limit=250_000 if chunked else None).fit(X)
    assert model.found_cells_ == cells
    assert adjusted_rand_score(model.row_labels_, rows.row_labels_) > 0.95
    assert adjusted_rand_score(model.column_labels_, columns.column_labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    np.testing.assert_array_equal(model.predict_columns(X), model.column_labels_)
    new = X + 0.01
    assert (model.predict_columns(new) == model.column_labels_).mean() > 0.9
    model.save(tmp_path / "model.pyrocco")
    loaded = pyrocco.load(tmp_path / "model.pyrocco")
    assert loaded.found_cells_ == cells
    np.testing.assert_array_equal(loaded.predict_columns(new), model.predict_columns(new))


@pytest.fixture(name="stopped")
def stop_a_fit(tmp_path):
    """The checkpoint of a fit of the ratings that was stopped at its end."""
    path = tmp_path / "fit.pyrocco"
    with suppress(KeyboardInterrupt), checkpoint_to(path, interval=0) as checkpoint:
        ROCCO().fit(RATINGS, checkpoint=checkpoint)
        raise KeyboardInterrupt
    return path


def test_a_fit_continues_from_its_checkpoint(stopped):
    expected = ROCCO().fit(RATINGS)
    with checkpoint_to(stopped, resume=True) as checkpoint:
        model = ROCCO().fit(RATINGS, checkpoint=checkpoint)
    np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
    np.testing.assert_array_equal(model.block_means_, expected.block_means_)


def test_another_preparation_is_another_fit(stopped):
    with checkpoint_to(stopped, resume=True) as checkpoint:
        model = ROCCO(prepare=["center"])
        with pytest.raises(CheckpointError, match="prepare"):
            model.fit(RATINGS, checkpoint=checkpoint)


@pytest.mark.parametrize("scale", [1e-6, 7.3, 1e9])
def test_the_unit_of_real_values_does_not_matter(scale):
    for X in (INTENSITIES, UNITS, OFFSET):
        model, scaled = ROCCO().fit(X), ROCCO().fit(scale * X)
        assert scaled.preparation_ == model.preparation_
        np.testing.assert_array_equal(scaled.row_labels_, model.row_labels_)
        np.testing.assert_allclose(scaled.block_means_, scale * model.block_means_, rtol=1e-6)


def test_labels_swap_with_the_sides_if_the_preparation_is_symmetrical():
    model = ROCCO(prepare="balance").fit(COUNTS)
    flipped = ROCCO(prepare="balance").fit(np.ascontiguousarray(COUNTS.T))
    assert adjusted_rand_score(model.row_labels_, flipped.column_labels_) == 1
    assert adjusted_rand_score(model.column_labels_, flipped.row_labels_) == 1


def test_names_change_nothing():
    genes = [f"ENSG{i:011d}" for i in range(60)]
    table = pd.DataFrame(COUNTS.T, index=genes, columns=[f"cell{i}" for i in range(90)])
    model, without = ROCCO().fit(table), ROCCO().fit(COUNTS.T)
    assert model.preparation_ == without.preparation_
    np.testing.assert_array_equal(model.row_labels_, without.row_labels_)
    np.testing.assert_array_equal(model.predict(table), model.row_labels_)


def test_the_paper_prepares_nothing_unless_asked():
    model = ROCCO(3, variant="paper").fit(COUNTS)
    assert model.cells_ == "counts"
    assert model.preparation_ == "The fit uses the values as they are, as in the paper."
    as_they_are = ROCCO(3, variant="paper", prepare=None).fit(COUNTS)
    np.testing.assert_array_equal(model.representation_, as_they_are.representation_)
    asked = ROCCO(3, variant="paper", prepare="tfidf").fit(COUNTS)
    by_hand = ROCCO(3, variant="paper", prepare=None).fit(prepare(COUNTS, ["tfidf"]))
    np.testing.assert_array_equal(asked.row_labels_, by_hand.row_labels_)
    np.testing.assert_allclose(asked.block_means_, means_over_blocks(COUNTS, asked))


def test_outlier_cells_are_moved_before_means_are_taken():
    X = INTENSITIES.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = 1e9
    model = ROCCO().fit(X)
    assert model.cell_weights_ is not None
    assert model.block_means_.max() < 1e4
    assert model.at().block_means_.max() < 1e4
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)


def test_values_are_not_copied_if_nothing_is_done():
    X = make_noisy_biclusters((90, 60), 3, noise=5, random_state=0).X
    model, as_they_are = ROCCO().fit(X), ROCCO(prepare=None).fit(X)
    assert model.cells_ == "real values"
    np.testing.assert_array_equal(model.representation_, as_they_are.representation_)
    np.testing.assert_array_equal(model.block_means_, as_they_are.block_means_)


@pytest.mark.parametrize(
    "X", [TEXTS, (TEXTS > 0).astype(float), INTENSITIES], ids=["counts", "yes/no", "other"]
)
@pytest.mark.parametrize("in_chunks", [False, True])
def test_counts_are_kept_beside_the_prepared_values(X, in_chunks):
    settings = Settings.of(ROCCO().get_params())
    engine = (
        ChunkedEngine(ScratchStore(10**7, 1), 1) if in_chunks else MemoryEngine(cpu_backend(1))
    )
    arranged = engine.arrange(Given(X), settings.variant)
    cells = engine.prepare(arranged, settings)
    assert np.square(cells.X[:]).mean() == pytest.approx(1)
    if cells.kind in ("positive values", "yes/no"):
        assert cells.counts is None
    else:
        np.testing.assert_array_equal(np.sort(cells.counts[:], axis=None), np.sort(X, axis=None))


def test_few_no_are_counted_like_few_yes():
    rng = np.random.default_rng(0)
    rates = np.where(ROWS[:, None] == COLUMNS, 0.3, 0.03)
    yes = rng.binomial(1, rates).astype(float)
    few_no, few_yes = ROCCO().fit(1 - yes), ROCCO().fit(yes)
    assert few_no.preparation_.startswith("The fit exchanges yes and no, ")
    assert (few_no.cells_, few_no.structure_) == ("yes/no", "blocks")
    assert adjusted_rand_score(ROWS, few_no.row_labels_) > 0.9
    np.testing.assert_array_equal(few_no.row_labels_, few_yes.row_labels_)
    np.testing.assert_array_equal(few_no.column_labels_, few_yes.column_labels_)
    # What comes out is in the given units, and new rows are compared as those of the fit were.
    np.testing.assert_allclose(few_no.block_means_, 1 - few_yes.block_means_, atol=1e-12)
    rows = rng.binomial(1, rates)
    np.testing.assert_array_equal(few_no.predict(1 - rows), few_yes.predict(rows))
    np.testing.assert_allclose(few_no.predict_proba(1 - rows), few_yes.predict_proba(rows))
    columns = few_no.predict_columns(1 - rows), few_yes.predict_columns(rows)
    np.testing.assert_array_equal(*columns)
    flipped = ROCCO().fit(np.ascontiguousarray(1 - yes.T))
    np.testing.assert_array_equal(flipped.row_labels_, few_no.column_labels_)
    in_chunks = ROCCO().fit(da.from_array(1 - yes, chunks=(40, 60)))
    labels = np.asarray(in_chunks.row_labels_)
    assert adjusted_rand_score(labels, few_no.row_labels_) > 0.9


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (6, 5)])
def test_tiny_tables_of_counts_and_answers_are_one_cluster(shape):
    for X in (np.eye(*shape), np.ones(shape), 12.0 * np.eye(*shape)):
        model = ROCCO().fit(X)
        assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.18, 0.5, 0.82, 0.9, 0.98])
def test_yes_and_no_at_random_are_one_cluster(share):
    X = np.random.default_rng(3).binomial(1, share, (200, 100)).astype(float)
    model = ROCCO().fit(X)
    assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_rare_yes_may_be_taken_as_it_is(share):
    X = np.random.default_rng(3).binomial(1, share, (200, 100)).astype(float)
    model = ROCCO(prepare=None).fit(X)
    assert model.structure_ == "features"
    assert model.n_row_clusters_ < 10


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_unit_of_shares_does_not_matter(form):
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.where(ROWS[:, None] == COLUMNS, 2.0, 0.2) * rng.gamma(4, 0.25, 60))
    shares = counts / counts.sum(axis=1, keepdims=True)
    model = ROCCO().fit(form(shares))
    assert (model.cells_, model.found_cells_.steps) == ("positive values", ("balance",))
    assert adjusted_rand_score(ROWS, model.row_labels_) > 0.9
    assert adjusted_rand_score(COLUMNS, model.column_labels_) > 0.9
    for unit in (100.0, 1e4, 1e6):
        other = ROCCO().fit(form(unit * shares))
        np.testing.assert_array_equal(other.row_labels_, model.row_labels_)
        np.testing.assert_array_equal(other.column_labels_, model.column_labels_)
        np.testing.assert_allclose(other.block_means_, unit * model.block_means_)
