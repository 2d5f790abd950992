"""A report to test, and a real browser that opens it."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from pyrocco import ROCCO
from pyrocco.report import write_report

FORMULAS = ["=1+1", "-80C", "-1.5", "@a,b"]
NASTY = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>&\"'"


class Given(BaseEstimator):
    """A model that has nothing but labels."""

    def __init__(self, shape=(4, 4), n_clusters=4):
        self.shape, self.n_clusters = shape, n_clusters
        self.row_labels_ = np.arange(shape[0]) % n_clusters
        self.column_labels_ = np.arange(shape[1]) % n_clusters

    def fit(self, X):
        return self


def planted_matrix():
    """Four row clusters, three column clusters, negative values, names like HTML and formulas."""
    rng = np.random.default_rng(0)
    rows, columns = np.arange(90) % 4, np.arange(36) % 3
    means = np.array([[4.0, 0, -4], [0, 4, 0], [-4, 0, 4], [0, -4, 0]])
    X = means[rows][:, columns] + rng.standard_normal((90, 36))
    row_names = [f"sample {i}" for i in range(90)]
    column_names = [f"gene {j}" for j in range(36)]
    row_names[7], column_names[5] = NASTY, f"{NASTY} 2"
    row_names[8:12] = FORMULAS
    return X, row_names, column_names


@pytest.fixture(scope="session")
def planted_page(tmp_path_factory):
    """A report with its model, matrix and names."""
    X, row_names, column_names = planted_matrix()
    model = ROCCO().fit(X)
    path = tmp_path_factory.mktemp("report") / "report.html"
    names = {"row_names": row_names, "column_names": column_names}
    summary = {"input": f"data/{NASTY}.csv", "notes": [NASTY], "warnings": [NASTY]}
    write_report(path, model, X, **names, summary=summary)
    return path, model, X, names


@pytest.fixture(scope="session")
def annotated_page(tmp_path_factory):
    """A report with annotations of the rows: a category with missing values, and a number."""
    X, row_names, column_names = planted_matrix()
    frame = pd.DataFrame(X, row_names, column_names)
    model = ROCCO().fit(X)
    rng = np.random.default_rng(1)
    group = np.where(model.row_labels_ == 0, "drug", "none").astype(object)
    group[rng.random(90) < 0.1] = None
    ages = 30 + 10 * model.row_labels_ + np.round(rng.random(90), 2)
    annotations = pd.DataFrame({f"group {NASTY}": group, "age": ages}, row_names)
    path = tmp_path_factory.mktemp("annotated") / "report.html"
    write_report(path, model, frame, row_annotations=annotations, summary={"input": "a.csv"})
    return path, model, frame, annotations


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        if os.environ.get("PYROCCO_BROWSER") == "required":
            pytest.fail("the report must be tested in a real browser: install chromium")
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Open a page offline; fail if the browser reports any problem."""
    problems, pages = [], []

    def open_page(path, **options):
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        context = browser.new_context(offline=True, accept_downloads=True, **options)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: _only_files(request.url, problems))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        pages.append(context)
        return page

    yield open_page
    for context in pages:
        context.close()
    assert problems == []


def _only_files(address, problems):
    if not address.startswith(("file:", "blob:", "data:")):
        problems.append(f"asked for {address}")
