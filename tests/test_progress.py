"""Lines, observers and scikit-learn's callbacks report on the progress of a fit."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyrocco
from pyrocco import RCC, ROCCO
from tests.stopping import StopAt

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Recorder:
    """A callback of scikit-learn that records its calls."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.begun, self.ended, self.fitted = [], [], []

    def setup(self, estimator, context):
        self.begun.append("setup")

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.ended.append(context.task_name)
        self.fitted.append(fitted_estimator)
        return context.task_name == "iteration" and context.task_id + 1 == self.stop_after


@pytest.mark.parametrize("estimator", [ROCCO(3, variant="paper"), RCC()], ids=repr)
def test_callbacks_receive_stages_and_iterations(estimator, planted):
    recorder = Recorder()
    model = clone(estimator).set_callbacks(recorder).fit(planted[0])
    assert recorder.begun[:2] == ["setup", "fit"]
    assert recorder.ended[-2:] == ["fit", "teardown"]
    assert recorder.begun.count("iteration") == model.n_iter_
    assert sorted(recorder.begun[1:]) == sorted(recorder.ended[:-1])
    np.testing.assert_array_equal(recorder.fitted[-1].labels_, model.labels_)
    np.testing.assert_array_equal(clone(estimator).fit(planted[0]).labels_, model.labels_)
    assert not [name for name in vars(model) if "callback_fit" in name]


def test_a_callback_can_stop_the_iterations(planted):
    model = ROCCO(3, variant="paper").set_callbacks(Recorder(stop_after=5)).fit(planted[0])
    assert (model.n_iter_, model.converged_) == (5, False)
    assert len(model.row_labels_) == 60


def test_an_error_in_a_callback_is_raised_after_teardown(planted):
    recorder = Recorder()
    recorder.on_fit_task_begin = lambda estimator, context: 1 / 0
    with pytest.raises(ZeroDivisionError):
        ROCCO().set_callbacks(recorder).fit(planted[0])
    assert recorder.ended == ["teardown"]


def test_the_progress_bar_of_scikit_learn(planted, capsys):
    ROCCO(3, variant="paper").set_callbacks(callback.ProgressBar()).fit(planted[0])
    out = capsys.readouterr().out
    assert "ROCCO - fit" in out
    assert "ROCCO - representation" in out


def test_within_a_pipeline_and_with_a_file(planted, tmp_path):
    recorder = Recorder()
    pipeline = make_pipeline(StandardScaler(), ROCCO().set_callbacks(recorder)).fit(planted[0])
    assert "clusters" in recorder.begun
    pipeline[-1].save(tmp_path / "model.pyrocco")
    again = pyrocco.load(tmp_path / "model.pyrocco")
    np.testing.assert_array_equal(again.labels_, pipeline[-1].labels_)


OLDER = """
import sklearn.callback
del sklearn.callback.with_callbacks  # as if it had none
import numpy as np
from pyrocco import ROCCO
model = ROCCO(verbose=1).fit(np.kron(np.eye(2), np.ones((9, 8))))
assert not hasattr(model, "set_callbacks")
print(model.n_row_clusters_)
"""


def test_scikit_learn_without_callbacks():
    command = [sys.executable, "-c", OLDER]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"
    assert "clusters: " in done.stderr


def test_an_observer_receives_the_events_of_its_fit_only(planted):
    first, second = StopAt(), StopAt()
    with_missing = planted[0].copy()
    with_missing[7, 5] = np.nan
    ROCCO().fit(with_missing, observer=first)
    RCC().fit(planted[0], observer=second)
    ROCCO().fit(planted[0])
    assert "graph of columns" in first.events
    assert first.events.count("clusters") == 1
    assert second.events[:2] == ["graph", "end of graph"]
