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


class Told:
    """A callback of scikit-learn that notes what it is told."""

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
def test_callbacks_are_told_of_stages_and_iterations(estimator, planted):
    told = Told()
    model = clone(estimator).set_callbacks(told).fit(planted[0])
    assert told.begun[:2] == ["setup", "fit"]
    assert told.ended[-2:] == ["fit", "teardown"]
    assert told.begun.count("iteration") == model.n_iter_
    assert sorted(told.begun[1:]) == sorted(told.ended[:-1])
    np.testing.assert_array_equal(told.fitted[-1].labels_, model.labels_)
    np.testing.assert_array_equal(clone(estimator).fit(planted[0]).labels_, model.labels_)
    assert not [name for name in vars(model) if "callback_fit" in name]


def test_a_callback_can_stop_the_iterations(planted):
    model = ROCCO(3, variant="paper").set_callbacks(Told(stop_after=5)).fit(planted[0])
    assert (model.n_iter_, model.converged_) == (5, False)
    assert len(model.row_labels_) == 60


def test_a_callback_that_fails_is_heard_and_cleaned_up(planted):
    told = Told()
    told.on_fit_task_begin = lambda estimator, context: 1 / 0
    with pytest.raises(ZeroDivisionError):
        ROCCO().set_callbacks(told).fit(planted[0])
    assert told.ended == ["teardown"]


def test_the_progress_bar_of_scikit_learn(planted, capsys):
    ROCCO(3, variant="paper").set_callbacks(callback.ProgressBar()).fit(planted[0])
    out = capsys.readouterr().out
    assert "ROCCO - fit" in out
    assert "ROCCO - representation" in out


def test_within_a_pipeline_and_with_a_file(planted, tmp_path):
    told = Told()
    pipeline = make_pipeline(StandardScaler(), ROCCO().set_callbacks(told)).fit(planted[0])
    assert "clusters" in told.begun
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


def test_an_observer_is_told_of_the_fit_that_it_is_handed_to(planted):
    first, second = StopAt(), StopAt()
    ROCCO().fit(planted[0], observer=first)
    RCC().fit(planted[0], observer=second)
    ROCCO().fit(planted[0])
    assert "graph of columns" in first.seen
    assert first.seen.count("clusters") == 1
    assert second.seen[:2] == ["graph", "end of graph"]
