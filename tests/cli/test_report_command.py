"""``pyrocco report`` regenerates the report of a fit."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from pyrocco.cli import main


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A long table of counts, transposed and prepared: every recorded option matters."""
    folder = tmp_path_factory.mktemp("fit")
    rng = np.random.default_rng(0)
    X = rng.poisson(np.kron(np.array([[9.0, 1], [1, 7]]), np.ones((12, 10))))
    rows, columns = np.indices(X.shape)
    long = pd.DataFrame({"gene": rows.ravel(), "cell": columns.ravel(), "count": X.ravel()})
    long = long.assign(gene="g" + long["gene"].astype(str), cell="c" + long["cell"].astype(str))
    long[long["count"] > 0].to_csv(folder / "long.csv", index=False)
    words = ["--layout", "long", "--absent", "zero", "--transpose", "--log1p", "-q"]
    assert main(["fit", str(folder / "long.csv"), "-o", str(folder / "out"), *words]) == 0
    return folder


def page(folder):
    return (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_the_same_page_again(fitted, capsys):
    before = page(fitted)
    assert "pyrocco found 2 row clusters" in before
    assert "The cells are counts. The fit takes log(1 + x) of every value x, as asked." in before
    (fitted / "out" / "report.html").unlink()
    assert main(["report", str(fitted / "out")]) == 0
    assert page(fitted) == before
    assert f"Open {fitted / 'out' / 'report.html'} in a browser." in capsys.readouterr().out
    assert main(["report", str(fitted / "out"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_a_matrix_that_moved(fitted, tmp_path, capsys):
    moved = tmp_path / "moved.csv"
    (fitted / "long.csv").rename(moved)
    try:
        assert main(["report", str(fitted / "out")]) == 2
        error = capsys.readouterr().err
        assert "no longer exists: say where it is with --matrix FILE" in error
        before = page(fitted)
        assert main(["report", str(fitted / "out"), "--matrix", str(moved), "-q"]) == 0
        assert page(fitted) == before
    finally:
        moved.rename(fitted / "long.csv")


def test_another_matrix_is_refused(fitted, tmp_path, capsys):
    other = tmp_path / "other.csv"
    text = (fitted / "long.csv").read_text(encoding="utf-8")
    other.write_text(re.sub(r"\bg3\b", "g99", text), encoding="utf-8")
    before = page(fitted)
    assert main(["report", str(fitted / "out"), "--matrix", str(other)]) == 2
    assert "are not those of the fit" in capsys.readouterr().err
    assert page(fitted) == before


def test_a_folder_without_results(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "contains no results of pyrocco fit" in capsys.readouterr().err
    (tmp_path / "summary.json").write_text("{", encoding="utf-8")
    assert main(["report", str(tmp_path)]) == 2
    assert "was not written by pyrocco fit" in capsys.readouterr().err
    (tmp_path / "summary.json").write_text("{}", encoding="utf-8")
    assert main(["report", str(tmp_path)]) == 2
    assert "model.pyrocco" in capsys.readouterr().err


def test_no_report(fitted, tmp_path):
    words = ["--layout", "long", "--no-report", "-q", "-o", str(tmp_path)]
    assert main(["fit", str(fitted / "long.csv"), *words]) == 0
    assert not (tmp_path / "report.html").exists()
    assert "report.html" not in json.loads((tmp_path / "summary.json").read_text())["files"]
