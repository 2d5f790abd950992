"""A fit that was stopped anywhere goes on to what it would have found."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_biclusters

from pyrocco import ROCCO
from pyrocco.backends.torch import TorchBackend
from pyrocco.checkpoint import CheckpointError, checkpoint_to
from pyrocco.io.model_file import read_model_file
from pyrocco.solvers import ConjugateGradientSolver
from tests.stopping import StopAt


def wild_matrix():
    """Blocks with wild cells, so that a fit learns its representation seven times."""
    X, _, _ = make_biclusters((30, 20), 2, noise=2, random_state=1)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.02] *= 40
    return X


X, _, _ = make_biclusters((30, 20), 3, noise=20, random_state=0)
GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
LITERAL = {"variant": "paper", "n_clusters": 3, "max_iter": 9}
FITS = {
    "paper": (X, {"variant": "paper", "max_iter": 25}),
    "default": (X, {}),
    "distrust": (wild_matrix(), {}),
    "missing cells": (GAPS, {}),
    "iterative solver": (X, {**LITERAL, "solver": ConjugateGradientSolver(1e-4)}),
    "sparse": (sparse.csr_array(np.where(X > 20, X, 0)), LITERAL),
    "float32": (X.astype(np.float32), LITERAL),
    "PyTorch": (X, {**LITERAL, "device": TorchBackend("cpu")}),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", name="whole")
def fit_whole():
    """Fits that nobody stopped, and what happens in them."""
    found = {}
    for name, (X, parameters) in FITS.items():
        watch = StopAt()
        found[name] = ROCCO(**parameters).fit(X, observer=watch), watch.seen
    return found


def stop(name, path, moment, **options):
    X, parameters = FITS[name]
    watch = StopAt(moment)
    with pytest.raises(KeyboardInterrupt), checkpoint_to(path, **options) as checkpoint:
        ROCCO(**parameters).fit(X, observer=watch, checkpoint=checkpoint)
    return watch.seen


def go_on(name, path):
    X, parameters = FITS[name]
    watch = StopAt()
    with checkpoint_to(path, resume=True) as checkpoint:
        model = ROCCO(**parameters).fit(X, observer=watch, checkpoint=checkpoint)
    return model, watch.seen


def check_same(model, whole):
    for name in ("row_labels_", "column_labels_", "representation_", "row_membership_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(whole, name))
    for name in ("heads", "tails", "weights"):
        ours, theirs = getattr(model.row_graph_, name), getattr(whole.row_graph_, name)
        np.testing.assert_array_equal(ours, theirs)
    assert [r["objective"] for r in model.history_] == [r["objective"] for r in whole.history_]
    assert (model.n_iter_, model.converged_) == (whole.n_iter_, whole.converged_)


@pytest.mark.parametrize("name", FITS)
@settings(max_examples=2)
@given(share=st.floats(0, 1, exclude_max=True))
def test_goes_on_from_any_moment_to_the_same(name, share, whole, tmp_path_factory):
    model, seen = whole[name]
    path = tmp_path_factory.mktemp("stop") / "night.pyrocco"
    stop(name, path, int(share * len(seen)))
    again, _ = go_on(name, path)
    check_same(again, model)
    assert not path.exists()


def test_iterations_are_not_done_twice(whole, tmp_path):
    path = tmp_path / "night.pyrocco"
    done = []
    for iteration in (3, 10, 17):
        done += stop("paper", path, f"iteration {iteration}", resume=True)
    model, seen = go_on("paper", path)
    check_same(model, whole["paper"][0])
    iterations = [what for what in [*done, *seen] if what.startswith("iteration")]
    assert iterations == [f"iteration {i + 1}" for i in range(model.n_iter_)]


def test_a_finished_representation_is_not_learned_again(whole, tmp_path):
    path = tmp_path / "night.pyrocco"
    for name in ("paper", "default"):
        stop(name, path, "clusters")
        model, seen = go_on(name, path)
        check_same(model, whole[name][0])
        assert seen[0] == "clusters"


def test_trust_in_cells_is_not_found_out_again(whole, tmp_path):
    model, seen = whole["distrust"]
    assert model.cell_weights_ is not None
    path = tmp_path / "night.pyrocco"
    stop("distrust", path, len(seen) - 1 - seen[::-1].index("graph of rows"))
    again, after = go_on("distrust", path)
    check_same(again, model)
    np.testing.assert_array_equal(again.cell_weights_, model.cell_weights_)
    assert after.count("representation") == 1
    assert seen.count("representation") > 5


def test_a_stop_on_the_way_back_loses_nothing(whole, tmp_path):
    path = tmp_path / "night.pyrocco"
    seen = whole["distrust"][1]
    fourth = [i for i, what in enumerate(seen) if what == "graph of rows"][3]
    stop("distrust", path, fourth)
    kept = path.read_bytes()
    stop("distrust", path, "end of representation", resume=True)
    assert path.read_bytes() == kept


def test_nothing_is_written_before_its_time(tmp_path):
    path, found = tmp_path / "night.pyrocco", []

    class Look(StopAt):
        def iteration(self, record):
            found.append(path.exists())
            return False

    X, parameters = FITS["paper"]
    for interval, expected in ((60.0, {False}), (0.0, {True})):
        with checkpoint_to(path, interval=interval) as checkpoint:
            ROCCO(**parameters).fit(X, checkpoint=checkpoint, observer=Look())
        assert set(found) == expected
        found.clear()
        assert not path.exists()


def test_the_file_holds_arrays_and_text_only(tmp_path):
    path = tmp_path / "deep" / "night.pyrocco"
    stop("paper", path, "iteration 4")
    position = read_model_file(path)["checkpoint"]["position"]
    assert position["state"]["U"].shape == X.shape
    assert len(position["state"]["history"]) == 4
    assert [file.name for file in path.parent.iterdir()] == ["night.pyrocco"]


def test_other_data_or_parameters_are_refused(tmp_path):
    path = tmp_path / "night.pyrocco"
    stop("paper", path, "iteration 4")
    other = X.copy()
    other[3, 4] += 1e-9
    parameters = FITS["paper"][1]
    for data, changed, match in [
        (other, {}, "another matrix: use the same data"),
        (X.astype(np.float32), {}, "another matrix"),
        (sparse.csr_array(X), {}, "another matrix"),
        (X, {"n_neighbors": 7}, r"another n_neighbors \(10 then, 7 now\)"),
        (X, {"n_clusters": (2, None)}, r"another n_clusters \(None then, \[2, None\] now\)"),
        (X, {"solver": ConjugateGradientSolver()}, "another solver"),
        (X, {"random_state": 1}, "another random_state"),
    ]:
        model = ROCCO(**{**parameters, **changed})
        with (
            pytest.raises(CheckpointError, match=match),
            checkpoint_to(path, resume=True) as checkpoint,
        ):
            model.fit(data, checkpoint=checkpoint)
    with checkpoint_to(path, resume=True) as checkpoint:  # these do not change the result
        ROCCO(**parameters, verbose=0, n_jobs=1).fit(X, checkpoint=checkpoint)


def test_random_numbers_must_come_again(tmp_path):
    for seed in (None, np.random.RandomState(0)):
        with (
            pytest.raises(CheckpointError, match="is an integer"),
            checkpoint_to(tmp_path / "night.pyrocco") as checkpoint,
        ):
            ROCCO(random_state=seed).fit(X, checkpoint=checkpoint)


def test_a_checkpoint_is_for_one_fit(tmp_path):
    with (
        pytest.raises(CheckpointError, match="for one fit"),
        checkpoint_to(tmp_path / "night.pyrocco") as checkpoint,
    ):
        ROCCO().fit(X, checkpoint=checkpoint).fit(X, checkpoint=checkpoint)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "night.pyrocco"
    path.write_text("not this")
    with pytest.raises(CheckpointError, match="delete it"), checkpoint_to(path, resume=True):
        pytest.fail("must not begin")
    ROCCO().fit(X).save(path)
    with pytest.raises(CheckpointError, match="delete it"), checkpoint_to(path, resume=True):
        pytest.fail("must not begin")
    with checkpoint_to(path) as checkpoint:  # without resume the old content does not matter
        ROCCO().fit(X, checkpoint=checkpoint)


def test_errors_leave_no_checkpoint(tmp_path):
    path = tmp_path / "night.pyrocco"
    with pytest.raises(ValueError, match="n_clusters"), checkpoint_to(path) as checkpoint:
        ROCCO(n_clusters=1000).fit(X, checkpoint=checkpoint)
    assert not path.exists()


def test_a_checkpoint_that_no_fit_was_given_is_reported(tmp_path):
    path = tmp_path / "night.pyrocco"
    path.write_text("a file of the user")
    with pytest.warns(UserWarning, match="hand it to the fit"), checkpoint_to(path):
        ROCCO().fit(X)
    assert path.read_text() == "a file of the user"


def test_a_fit_in_another_thread_is_saved_too(tmp_path, whole):
    """The checkpoint is an object, so that it works in any thread."""
    path, raised = tmp_path / "night.pyrocco", []

    class Stop(StopAt):
        def iteration(self, record):
            if record["iteration"] == 4:
                raise MemoryError
            return False

    def fit(checkpoint):
        try:
            ROCCO(**FITS["paper"][1]).fit(X, checkpoint=checkpoint, observer=Stop())
        except MemoryError as error:
            raised.append(error)

    with pytest.raises(MemoryError), checkpoint_to(path) as checkpoint:  # noqa: PT012
        thread = threading.Thread(target=fit, args=(checkpoint,))
        thread.start()
        thread.join()
        raise raised[0]
    assert len(read_model_file(path)["checkpoint"]["position"]["state"]["history"]) == 4
    model, seen = go_on("paper", path)
    assert "graph of rows" not in seen
    check_same(model, whole["paper"][0])
