"""What a real notebook shows: models, cuts, figures, reports and one bar for a fit."""

import re
import warnings

import pytest

from pyrocco.progress import NotebookBar

CELLS = [
    "import pyrocco\n"
    "from pyrocco.datasets import make_noisy_biclusters\n"
    "X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X\n"
    "model = pyrocco.ROCCO(verbose=1).fit(X)",
    "model",
    "model.at(2, 2)",
    "model.plot()",
    "pyrocco.plots.before_and_after(X, model.row_labels_, model.column_labels_)",
    "model.report()",
    "pyrocco.ROCCO(verbose=1).fit(X.T * float('inf'))",
]


@pytest.fixture(name="shown", scope="module")
def run_notebook():
    """The outputs of every cell, by type of media."""
    reason = "nbclient or ipykernel is not installed"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that run the notebook
        import nbformat  # noqa: PLC0415 - comes with nbclient

        notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
        nbclient.NotebookClient(notebook, timeout=300, allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


def data(outputs):
    return [dict(output.data) for output in outputs if "data" in output]


def test_a_fit_shows_one_bar(shown):
    (bar,) = data(shown[0])
    assert re.search(r"Fitted in \d+ s\.", bar["text/html"])
    assert not [output for output in shown[0] if output.output_type == "stream"]


def test_a_model_shows_its_diagram_and_its_clusters(shown):
    (model,) = data(shown[1])
    assert "sk-estimator" in model["text/html"]
    assert "3 row clusters" in model["text/html"]
    assert "<svg" in model["text/html"]
    assert model["text/plain"] == "ROCCO(verbose=1)"


def test_a_cut_shows_its_clusters(shown):
    (cut,) = data(shown[2])
    assert "2 row clusters" in cut["text/html"]
    assert cut["text/plain"].startswith("CoClustering(")


@pytest.mark.parametrize("cell", [3, 4])
def test_figures_are_pictures(shown, cell):
    (figure,) = data(shown[cell])
    assert len(figure["image/png"]) > 10_000


def test_a_report_is_shown_in_a_frame(shown):
    (page,) = data(shown[5])
    assert page["text/html"].startswith("<iframe")


def test_an_error_before_the_fit_shows_no_bar(shown):
    assert [output.output_type for output in shown[6]] == ["error"]


def test_a_fit_that_is_stopped_says_where():
    pages = []
    bar = NotebookBar(100, lambda page: pages.append(page) or pages.append)
    bar.begin("clusters", 0)
    bar.stop()
    assert "Stopped during clusters." in pages[-1]
    assert "<progress" in pages[0]
