"""``pyrocco inspect``: what it says is what the library finds."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pyrocco.cells.kinds import COUNT_STEPS
from pyrocco.cli import main
from pyrocco.inspection import gather_facts

X = np.random.default_rng(0).poisson(0.4, (60, 45)).astype(float)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.npz"
    sparse.save_npz(path, sparse.csr_array(X))
    return path


def test_describes_the_matrix(path, capsys):
    assert main(["inspect", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for words in (
        "The matrix has 60 rows and 45 columns.",
        f"{100 * np.count_nonzero(X) / X.size:.3g} % of the cells",
        f"Values are whole numbers from 0 to {X.max():g}, mean {X.mean():.4g}.",
        "Cells: counts. The fit scales rows to the same total, then takes log(1 + x)",
        "Columns are compared in the same way, after they were scaled to the same total.",
        "A fit takes about 1 s on two cores and 0.4 GB of memory",
    ):
        assert words in captured.out
    assert not list(path.parent.glob("out*"))


def test_json(path, capsys):
    assert main(["inspect", str(path), "--json", "--transpose"]) == 0
    captured = capsys.readouterr()
    about = json.loads(captured.out)
    assert captured.err == ""
    assert about["facts"] == asdict(gather_facts(sparse.csr_array(X.T)))
    assert (about["cells"], about["steps"]) == ("counts", list(COUNT_STEPS))
    assert about["cost"]["memory"] > 0


def test_missing_values_are_counted_and_accepted(tmp_path, capsys):
    incomplete = X.copy()
    incomplete[3, 4] = np.nan
    np.save(tmp_path / "x.npy", incomplete)
    assert main(["inspect", str(tmp_path / "x.npy")]) == 0
    output = capsys.readouterr().out
    assert f"1 of its {X.size:,} cells is missing" in output
    assert "Missing values need not be filled in" in output


def test_a_matrix_too_large_for_this_machine(path, capsys, monkeypatch):
    monkeypatch.setattr("pyrocco.cli.inspect_command.machine_memory", lambda: 1e8)
    assert main(["inspect", str(path)]) == 0
    assert "This machine has only 0.1 GB" in capsys.readouterr().out


def test_bad_files_end_with_one_line(tmp_path, capsys):
    assert main(["inspect", str(tmp_path / "nowhere.csv")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1


def inspected(capsys, path, *options):
    assert main(["inspect", str(path), *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_shows_the_first_cells(path, capsys):
    about = inspected(capsys, path)
    first = about["first_cells"]
    np.testing.assert_array_equal(first["values"], X[:12, :12])
    assert first["row_names"][:2] == ["row_0", "row_1"]
    assert about["columns"] == [f"column_{j}" for j in range(45)]
    assert about["sheets"] == about["set_aside"] == about["row_annotations"] == []


def test_annotations_and_encoding_can_be_tried(tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text("name,a,b,note\nu,1.5,,x\nv,2,3,y\nw,4,1,x\n")
    about = inspected(capsys, path)
    assert about["set_aside"] == ["note"]
    assert about["first_cells"]["values"] == [[1.5, None], [2, 3], [4, 1]]
    assert inspected(capsys, path, "--annotate", "note")["row_annotations"] == ["note"]
    about = inspected(capsys, path, "--encode")
    assert set(about["encoding"]) == {"a", "b", "note"}
    table = tmp_path / "known.csv"
    table.write_text("name,age\nu,31\nv,45\nw,28\n")
    about = inspected(capsys, path, "--annotate-from", str(table))
    assert about["row_annotations"] == ["age"]


def test_json_lists_the_sheets_of_a_workbook(tmp_path, capsys):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        for name, factor in (("first", 1), ("second", 2)):
            frame = pd.DataFrame(factor * np.arange(12.0).reshape(4, 3), columns=list("abc"))
            frame.to_excel(writer, sheet_name=name, index=False)
    about = inspected(capsys, path, "--sheet", "second")
    assert about["sheets"] == ["first", "second"]
    assert about["first_cells"]["values"][1] == [6, 8, 10]
