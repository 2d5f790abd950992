"""The runner stores finished cells, records failures, and continues."""

import os

import fake_methods as fake
import pandas as pd
import pytest
from benchmarks.paper import runner
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import Biclusters
from benchmarks.paper.runner import Limits, run
from benchmarks.paper.store import KEY, Store

DATA = Biclusters(5, (20, 15))
LIMITS = Limits(seconds=2.5, memory=16)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    # Worker processes inherit it; tiny fits with many threads are slow on a busy machine.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def cells():
    methods = [
        fake.KM, fake.HALVES, fake.FAIL, fake.LACKING, fake.GORGE, fake.HANG, fake.HANG_MORE,
        fake.DIE, fake.HALVES,
    ]  # fmt: skip
    first = list(grid([DATA], methods[:-1], [0], columns=True))
    return [*first, *grid([DATA], [fake.HALVES], [1], columns=True)]


@pytest.fixture(scope="module")
def store(tmp_path_factory, cells):
    store = Store(tmp_path_factory.mktemp("results") / "tiny.csv")
    assert run(cells, store, LIMITS) == len(cells)
    return store


@pytest.fixture
def no_worker(monkeypatch):
    class Refuses(runner.Worker):
        def run(self, cell):
            raise AssertionError(f"{cell} is computed again")

    monkeypatch.setattr(runner, "Worker", Refuses)


def line(store, method, seed="0"):
    frame = store.read().set_index(["method", "seed"])
    return frame.loc[(method, seed)]


@pytest.mark.slow
def test_every_cell_has_a_line(store, cells):
    frame = store.read()
    assert len(frame) == len(cells)
    assert set(frame["status"]) == {"ok", "failed", "skipped", "timeout"}


@pytest.mark.slow
def test_scores_seconds_and_versions(store):
    km = line(store, "km")
    assert (km["status"], km["row_ari"], km["column_ari"]) == ("ok", 1.0, 1.0)
    assert (km["row_clusters"], km["n_rows"], km["n_columns"]) == (5, 20, 15)
    assert km["seconds"] > 0
    assert km["pyrocco"]
    assert km["scikit-learn"].count(".") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "status", "reason"),
    [
        ("fail", "failed", "ValueError: does not work"),
        ("lacking", "skipped", "ImportError: no module named nothing"),
        ("die", "failed", "process died, exit code 3"),
        ("hang", "timeout", "not done after 2.5 s"),
        ("hang more", "timeout", "not tried: out of time on 20x15-noise5 hang seed 0"),
    ],
)
def test_failures_are_recorded_with_their_reason(store, method, status, reason):
    assert (line(store, method)["status"], line(store, method)["reason"]) == (status, reason)


@pytest.mark.slow
def test_too_much_memory_is_recorded_as_a_failure(store):
    assert line(store, "gorge")["status"] == "failed"
    assert "Memory" in line(store, "gorge")["reason"]


@pytest.mark.slow
def test_the_run_continues_after_a_crash(store):
    assert line(store, "halves", "1")["status"] == "ok"


@pytest.mark.slow
@pytest.mark.usefixtures("no_worker")
def test_second_run_computes_nothing(store, cells):
    before = store.path.read_text()
    finished = [cell for cell in cells if cell.method is not fake.LACKING]
    assert run(finished, store, LIMITS) == 0
    assert store.path.read_text() == before


@pytest.mark.slow
@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize(
    ("method", "options"),
    [(fake.LACKING, {}), (fake.FAIL, {"retry": True}), (fake.HALVES, {"again": True})],
)
def test_selected_cells_are_computed_again(store, method, options, tmp_path):
    copy = Store(tmp_path / "copy.csv")
    copy.path.write_text(store.path.read_text())
    with pytest.raises(AssertionError, match="computed again"):
        run([Cell(DATA, method, 0)], copy, LIMITS, **options)


@pytest.mark.slow
@pytest.mark.usefixtures("no_worker")
def test_a_lost_representation_is_computed_again(store, tmp_path):
    with pytest.raises(AssertionError, match="computed again"):
        run([Cell(DATA, fake.HALVES, 0, keep=tmp_path / "lost.npy")], store, LIMITS)


def test_one_seed_if_nothing_depends_on_it():
    class Fixed(Biclusters):
        drawn = False

    seeds = [cell.seed for cell in grid([Fixed(5, drawn=False)], [fake.KM], range(3))]
    assert seeds == [0]
    assert [cell.seed for cell in grid([DATA], [fake.KM], range(3))] == [0, 1, 2]


def test_the_last_line_of_a_cell_is_used_and_old_files_get_new_columns(tmp_path):
    store = Store(tmp_path / "a.csv")
    store.path.write_text(
        "dataset,method,seed,options,status\nd,m,0,,failed\nd,m,0,,ok\nd,m,1,,ok\n"
    )
    store.drop({("d", "m", "1", "")})
    frame = store.read()
    assert frame[list(KEY)].to_numpy().tolist() == [["d", "m", "0", ""]]
    assert frame["status"].tolist() == ["ok"]
    assert pd.isna(frame["seconds"][0])
