"""``model.plot()``, ``model.report()`` and what notebooks show."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.cluster import SpectralCoclustering

from pyrocco import COBRA, RCC, ROCCO, load
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.report import write_report

X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
FRAME = pd.DataFrame(X, [f"patient {i}" for i in range(60)], [f"gene {j}" for j in range(40)])


@pytest.fixture(name="model", scope="module")
def fit_model():
    return ROCCO().fit(FRAME)


def test_a_plot_of_the_matrix_of_the_fit(model):
    drawn = model.plot(title="Patients")
    assert drawn.model is model
    np.testing.assert_array_equal(drawn.row_labels, model.row_labels_)
    assert list(drawn.row_labels.index) == list(FRAME.index)  # the dtype differs in pandas 3
    expected = FRAME.iloc[drawn.row_order, drawn.column_order]
    np.testing.assert_array_equal(drawn.reordered, expected)
    by_hand = model.plot(FRAME)
    np.testing.assert_array_equal(by_hand.reordered, drawn.reordered)


def test_a_report_of_the_matrix_of_the_fit(model, tmp_path):
    page = model.report(tmp_path / "report.html")
    write_report(tmp_path / "by_hand.html", model, FRAME)
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert written == page.html == (tmp_path / "by_hand.html").read_text(encoding="utf-8")
    assert "<iframe srcdoc=" in page._repr_html_()
    assert "</script>" not in page._repr_html_()
    annotations = pd.DataFrame({"ward": ["a", "b"] * 30}, FRAME.index)
    assert "ward" in model.report(row_annotations=annotations).html
    with pytest.raises(TypeError, match="not DataFrame; the matrix is data="):
        model.report(FRAME)


def test_a_model_without_its_data_asks_for_them(model, tmp_path):
    model.save(tmp_path / "model.pyrocco")
    loaded = load(tmp_path / "model.pyrocco")
    with pytest.raises(ValueError, match=r"does not keep the matrix of its fit: pass data=X"):
        loaded.plot()
    np.testing.assert_array_equal(loaded.plot(FRAME).row_labels, model.row_labels_)


def test_a_notebook_shows_the_diagram_and_the_clusters(model):
    html = model._repr_mimebundle_()["text/html"]
    assert html.startswith(ROCCO()._repr_mimebundle_()["text/html"][:7])
    assert "sk-estimator" in html
    assert "3 row clusters" in html
    assert "3 column clusters" in html
    assert "The cells are real values." in html
    assert model.preparation_ in html
    assert html.count("<rect") == 9
    assert "<rect" not in ROCCO()._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
    assert model._repr_mimebundle_()["text/plain"] == "ROCCO()"
    cut = model.at(2, 1)._repr_html_()
    assert "2 row clusters" in cut
    assert cut.count("<rect") == 2


def test_pictures_of_unusual_blocks():
    model = ROCCO(2).fit(X)
    for means in ([[np.nan, 1.0], [2.0, np.inf]], [[1e308, -1e308], [0.0, 1.0]], [[3.0, 3.0]] * 2):
        model.block_means_ = np.array(means)
        assert len(set(re.findall(r'fill="(#\w{6})"', model._repr_mimebundle_()["text/html"]))) > 0
    many = ROCCO((50, 35)).fit(X)
    assert many._repr_mimebundle_()["text/html"].count("<rect") == 40 * 35


def test_other_models():
    assert "<rect" in COBRA(gamma=1.0).fit(X[:20, :15])._repr_mimebundle_()["text/html"]
    cobra = COBRA(gamma=1.0).fit(X[:20, :15])
    assert cobra.plot(X[:20, :15]).row_labels.tolist() == cobra.row_labels_.tolist()
    assert not hasattr(RCC(), "plot")
    assert not hasattr(SpectralCoclustering(), "plot")


def test_a_fit_imports_no_matplotlib():
    code = (
        "import sys, numpy as np, pyrocco; m = pyrocco.ROCCO().fit(np.eye(9)); "
        "m._repr_mimebundle_(); assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
