"""Plans and reports of the experiments, without the data they run on."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.paper import published
from benchmarks.paper.__main__ import main
from benchmarks.paper.experiments import EXPERIMENTS, Request, fig1_fig2
from benchmarks.paper.experiments.real_table import few_seeds
from benchmarks.paper.markdown import command
from benchmarks.paper.methods import METHODS
from benchmarks.paper.methods.fit_rocco import stage_seconds
from benchmarks.paper.ranks import average_ranks, ranked_sets
from benchmarks.paper.store import COLUMNS, Store

ALL = [
    "ablation",
    "fig1_fig2",
    "fig3",
    "fig4",
    "fig5",
    "readings",
    "robustness",
    "table1",
    "table2",
]


def test_all_experiments_are_found():
    assert list(EXPERIMENTS) == ALL


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("quick", [False, True])
def test_plans_have_no_cell_twice(name, quick):
    keys = [cell.key for cell in EXPERIMENTS[name].cells(Request(quick=quick))]
    assert keys
    assert len(keys) == len(set(keys))


def test_seeds_methods_and_data_sets_can_be_chosen():
    request = Request(seeds=2, methods=["km", "cn_x"], datasets=["glioma:zscore"])
    keys = {cell.key[:3] for cell in EXPERIMENTS["table2"].cells(request)}
    assert keys == {
        ("glioma:zscore", "km", "0"),
        ("glioma:zscore", "km", "1"),
        ("glioma:zscore", "cn_x", "0"),
    }


def test_the_command_chooses_seeds_and_a_device_for_methods_that_can_use_it(monkeypatch, tmp_path):
    computed, limits = [], []

    def run(cells, store, given, **options):
        computed.extend(cells)
        limits.append(given)

    monkeypatch.setattr("benchmarks.paper.command.run", run)
    main(["table2", "--datasets", "glioma", "--methods", "cobra", "rocco", "cobra+km", "auto_km",
          "--only-seeds", "0", "3", "--device", "cuda", "--results", str(tmp_path)])  # fmt: skip
    assert {(*cell.key[1:3], cell.device) for cell in computed} == {
        ("cobra", "0", "cuda"),
        ("cobra", "3", "cuda"),
        ("rocco", "0", "cpu"),
        ("cobra+km", "0", "cuda"),
        ("cobra+km", "3", "cuda"),
        ("auto_km", "0", "cpu"),
        ("auto_km", "3", "cpu"),
    }
    assert limits[0].memory == float("inf")
    assert all(not cell.options for cell in computed)


@pytest.mark.parametrize("name", ALL)
def test_reports_are_written_from_any_mixture_of_cells(name, tmp_path):
    # Every third cell failed: a report must still be written, and say so.
    store = Store(tmp_path / f"{name}.csv")
    for index, cell in enumerate(EXPERIMENTS[name].cells(Request(quick=True))):
        store.append(_line(cell, index))
    EXPERIMENTS[name].report(store.read(), tmp_path, quick=True)
    text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert f"python -m benchmarks.paper {name}" in text
    assert "ValueError: on purpose" in text
    assert "nan" not in text
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000


def _line(cell, index):
    dataset, method, seed, options = cell.key
    row = dict.fromkeys(COLUMNS, "") | {
        "dataset": dataset, "method": method, "seed": seed, "options": options,
        "python": "3", "pyrocco": "0", "threads": 1, "commit": "abc",
    }  # fmt: skip
    if index % 3 == 2:
        return row | {"status": "failed", "reason": "ValueError: on purpose"}
    scores = {c: 0.5 for c in COLUMNS if c.startswith(("row_", "column_"))}
    stages = '{"graph": 1.0, "representation": 2.0, "assignment": 0.5}'
    return row | scores | {"status": "ok", "seconds": 1.0 + index, "stages": stages}


def test_a_report_without_stored_representations_keeps_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(fig1_fig2, "PANELS", tmp_path / "not there")
    store, page = Store(tmp_path / "fig1_fig2.csv"), tmp_path / "fig1_fig2.md"
    store.append(_line(EXPERIMENTS["fig1_fig2"].cells(Request())[0], 0))
    page.write_text("all rows")
    EXPERIMENTS["fig1_fig2"].report(store.read(), tmp_path, quick=False)
    assert page.read_text() == "all rows"


def test_the_command_on_the_page_computes_its_rows():
    frame = pd.DataFrame(
        {"method": ["b", "a"], "dataset": ["x", "x"], "seed": ["0", "4"]},
    )
    line = command("table2", frame, ["a", "b", "c"], ["x", "y"], quick=False)
    assert line == ("python -m benchmarks.paper table2 --seeds 5 --methods a b --datasets x")
    assert command("fig3", frame, ["a", "b"], ["x"], quick=True) == (
        "python -m benchmarks.paper fig3 --quick --seeds 5"
    )


def test_missing_seeds_are_listed():
    sizes = {("km", "glioma"): 5, ("rcc", "glioma"): 1, ("km", "lung"): 2}
    frame = pd.DataFrame(
        [{"method": m, "dataset": d} for (m, d), size in sizes.items() for _ in range(size)]
    )
    assert few_seeds(frame) == "Fewer than 5 seeds so far: km on lung (2)."


def test_sets_on_which_some_method_was_not_run_are_not_ranked():
    frame = pd.DataFrame({"method": ["a", "b", "a"], "dataset": ["x", "x", "y"]})
    assert ranked_sets(frame, ["a", "b"]) == ["x"]


@pytest.mark.parametrize(
    ("table", "ranks"),
    [
        (published.TABLE1, published.TABLE1_RANKS),
        (published.TABLE2, published.TABLE2_RANKS),
    ],
)
def test_printed_scores_give_the_printed_ranks(table, ranks):
    # A slip in copying a number would move a rank; the paper ties some that differ by 0.001.
    for index, metric in enumerate(published.METRICS):
        values = pd.DataFrame({name: scores[metric] for name, scores in table.items()}).T
        ours = average_ranks(values, list(table))
        printed = pd.Series({name: pair[index] for name, pair in ranks.items()})
        assert np.abs(ours - printed).max() < 0.13


def test_every_column_of_the_paper_has_a_method():
    names = {method.paper_name for method in METHODS.values()}
    assert set(published.TABLE1) | set(published.TABLE2) <= names


def test_seconds_of_stages_are_parsed():
    output = "graph of rows: 0.25 s\ngraph of columns: 0.50 s\nclusters of rows: 1.00 s\n"
    assert stage_seconds(output) == {"graph": 0.75, "assignment": 1.0}


@pytest.mark.slow
def test_command_line_runs_and_resumes(tmp_path, capsys):
    command = ["fig3", "--quick", "--seeds", "1", "--methods", "km", "cn_x"]
    command += ["--datasets", "100x100-noise10", "--results", str(tmp_path)]
    assert main(command) == 0
    assert "2 cells, 2 to compute" in capsys.readouterr().err
    assert main(command) == 0
    assert "2 cells, 0 to compute" in capsys.readouterr().err
    assert {path.suffix for path in (tmp_path / "quick").iterdir()} == {".csv", ".md", ".png"}


def test_unknown_names_are_errors(capsys):
    assert main(["table3"]) == 2
    assert main(["table2", "--methods", "magic"]) == 2
    assert "unknown name 'magic'; known: auto_km" in capsys.readouterr().err
