"""A fit that was stopped at any moment resumes and finds what it would have found."""

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


def with_outliers():
    """Blocks with outlier cells, so that a fit learns its representation seven times."""
    X, _, _ = make_biclusters((30, 20), 2, noise=2, random_state=1)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.02] *= 40
    return X


X, _, _ = make_biclusters((30, 20), 3, noise=20, random_state=0)
WITH_MISSING = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
LITERAL = {"variant": "paper", "n_clusters": 3, "max_iter": 9}
FITS = {
    "paper": (X, {"variant": "paper", "max_iter": 25}),
    "default": (X, {}),
    "outlier cells": (with_outliers(), {}),
    "missing values": (WITH_MISSING, {}),
    "iterative solver": (X, {**LITERAL, "solver": ConjugateGradientSolver(1e-4)}),
    "sparse": (sparse.csr_array(np.where(X > 20, X, 0)), LITERAL),
    "float32": (X.astype(np.float32), LITERAL),
    "PyTorch": (X, {**LITERAL, "device": TorchBackend("cpu")}),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", name="whole")
def fit_whole():
    """Uninterrupted fits and their events."""
    found = {}
    for name, (X, parameters) in FITS.items():
        observer = StopAt()
        found[name] = ROCCO(**parameters).fit(X, observer=observer), observer.events
    return found


def stop(name, path, moment, **options):
    X, parameters = FITS[name]
    observer = StopAt(moment)
    with pytest.raises(KeyboardInterrupt), checkpoint_to(path, **options) as checkpoint:
        ROCCO(**parameters).fit(X, observer=observer, checkpoint=checkpoint)
    return observer.events


def resume_fit(name, path):
    X, parameters = FITS[name]
    observer = StopAt()
    with checkpoint_to(path, resume=True) as checkpoint:
        model = ROCCO(**parameters).fit(X, observer=observer, checkpoint=checkpoint)
    return model, observer.events


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
def test_resumes_from_any_moment_with_the_same_result(name, share, whole, tmp_path_factory):
    model, events = whole[name]
    path = tmp_path_factory.mktemp("stop") / "checkpoint.pyrocco"
    stop(name, path, int(share * len(events)))
    again, _ = resume_fit(name, path)
    check_same(again, model)
    assert not path.exists()


def test_iterations_are_not_done_twice(whole, tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    done = []
    for iteration in (3, 10, 17):
        done += stop("paper", path, f"iteration {iteration}", resume=True)
    model, events = resume_fit("paper", path)
    check_same(model, whole["paper"][0])
    iterations = [what for what in [*done, *events] if what.startswith("iteration")]
    assert iterations == [f"iteration {i + 1}" for i in range(model.n_iter_)]


def test_a_finished_representation_is_not_learned_again(whole, tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    for name in ("paper", "default"):
        stop(name, path, "clusters")
        model, events = resume_fit(name, path)
        check_same(model, whole[name][0])
        assert "graph of rows" not in events
        assert "representation" not in events


def test_weights_of_cells_are_not_estimated_again(whole, tmp_path):
    model, events = whole["outlier cells"]
    assert model.cell_weights_ is not None
    path = tmp_path / "checkpoint.pyrocco"
    stop("outlier cells", path, len(events) - 1 - events[::-1].index("clusters"))
    again, after = resume_fit("outlier cells", path)
    check_same(again, model)
    np.testing.assert_array_equal(again.cell_weights_, model.cell_weights_)
    assert after[-2:] == ["clusters", "end of clusters"]
    assert "outlier cells" not in after
    assert "representation" not in after
    assert events.count("representation") > 3


def test_a_stop_while_resuming_loses_nothing(whole, tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    events = whole["outlier cells"][1]
    fourth = [i for i, what in enumerate(events) if what == "graph of rows"][3]
    stop("outlier cells", path, fourth)
    saved = path.read_bytes()
    stop("outlier cells", path, "end of representation", resume=True)
    assert path.read_bytes() == saved


def test_nothing_is_written_before_the_interval_has_passed(tmp_path):
    path, found = tmp_path / "checkpoint.pyrocco", []

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
    path = tmp_path / "deep" / "checkpoint.pyrocco"
    stop("paper", path, "iteration 4")
    position = read_model_file(path)["checkpoint"]["position"]
    assert position["state"]["U"].shape == X.shape
    assert len(position["state"]["history"]) == 4
    assert [file.name for file in path.parent.iterdir()] == ["checkpoint.pyrocco"]


def test_other_data_or_parameters_are_refused(tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
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


def test_the_seed_must_be_an_integer(tmp_path):
    for seed in (None, np.random.RandomState(0)):
        with (
            pytest.raises(CheckpointError, match="is an integer"),
            checkpoint_to(tmp_path / "checkpoint.pyrocco") as checkpoint,
        ):
            ROCCO(random_state=seed).fit(X, checkpoint=checkpoint)


def test_a_checkpoint_is_for_one_fit(tmp_path):
    with (
        pytest.raises(CheckpointError, match="for one fit"),
        checkpoint_to(tmp_path / "checkpoint.pyrocco") as checkpoint,
    ):
        ROCCO().fit(X, checkpoint=checkpoint).fit(X, checkpoint=checkpoint)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    path.write_text("not this")
    with pytest.raises(CheckpointError, match="delete it"), checkpoint_to(path, resume=True):
        pytest.fail("must not begin")
    ROCCO().fit(X).save(path)
    with pytest.raises(CheckpointError, match="delete it"), checkpoint_to(path, resume=True):
        pytest.fail("must not begin")
    with checkpoint_to(path) as checkpoint:  # without resume the old content does not matter
        ROCCO().fit(X, checkpoint=checkpoint)


def test_errors_leave_no_checkpoint(tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    with pytest.raises(ValueError, match="n_clusters"), checkpoint_to(path) as checkpoint:
        ROCCO(n_clusters=1000).fit(X, checkpoint=checkpoint)
    assert not path.exists()


def test_a_checkpoint_that_no_fit_was_given_is_reported(tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    path.write_text("a file of the user")
    with pytest.warns(UserWarning, match="pass it to fit"), checkpoint_to(path):
        ROCCO().fit(X)
    assert path.read_text() == "a file of the user"


def test_a_fit_in_another_thread_is_saved_too(tmp_path, whole):
    """The checkpoint is an object, so that it works in any thread."""
    path, raised = tmp_path / "checkpoint.pyrocco", []

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
    model, events = resume_fit("paper", path)
    assert "graph of rows" not in events
    check_same(model, whole["paper"][0])
