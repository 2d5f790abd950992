"""Files, the queue of fits, and downloads, without a network and without real fits."""

import io
import json
import os
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyrocco.app import routes as routes_module
from pyrocco.app.commands import Command, Outcome, inspect_words, predict_words
from pyrocco.app.fits import Fits
from pyrocco.app.plain_words import plain
from pyrocco.app.uploads import Uploads

from .conftest import LIMIT, FakeCommand


def wait_for(page, fit_id, stage):
    for _ in range(400):
        about = page.get(f"fits/{fit_id}").json()
        if about["stage"] == stage:
            return about
        time.sleep(0.01)
    raise AssertionError(f"the fit is {about['stage']}, not {stage}")


def start(page, **message):
    message = {"file": page.add(), **message}
    return page.post("fits", json=message).json()["id"]


def finished(page, **message):
    """Run a fit to its end."""
    fit_id = start(page, **message)
    wait_for(page, fit_id, "running")
    FakeCommand.started[-1].end(n_row_clusters=3, n_column_clusters=2, warnings=["careful"])
    return fit_id, wait_for(page, fit_id, "done")


def test_a_file_is_stored_as_it_is(page):
    content = os.urandom(LIMIT)
    upload = page.desk.uploads.find(page.add("counts.csv", content))
    assert upload.path.read_bytes() == content
    assert upload.path.is_relative_to(page.desk.folder / "files")
    assert upload.name == "counts.csv"


def test_the_options_of_the_format_are_told(page):
    answer = page.post("files", params={"name": "a.h5ad"}, content=b"x").json()
    assert set(answer["options"]) == {"layer", "raw", "transpose"}


def test_a_file_that_is_too_large_is_refused_while_it_arrives(page):
    n_sent = 0

    async def chunks():
        nonlocal n_sent
        for _ in range(100):
            n_sent += 1
            yield b"1" * 500

    answer = page.post("files", params={"name": "large.csv"}, content=chunks())
    assert answer.status_code == 413
    message = answer.json()["error"]
    assert message.startswith("large.csv is larger than 0.002 MB, the limit of this page.")
    assert "--max-size" in message
    assert n_sent < 10
    assert list((page.desk.folder / "files").iterdir()) == []


def test_a_full_disk_is_said(page, monkeypatch):
    async def write(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page.desk.uploads, "_write", write)
    answer = page.post("files", params={"name": "a.csv"}, content=b"a")
    assert answer.status_code == 507
    assert "No space left on device" in answer.json()["error"]


def test_names_of_a_market_file_are_stored_beside_it(page):
    file_id = page.add("matrix.mtx", b"x")
    for name in ("barcodes.tsv", "features.tsv.gz"):
        answer = page.post(f"files/{file_id}/beside", params={"name": name}, content=b"y")
        assert answer.status_code == 200
    folder = page.desk.uploads.find(file_id).path.parent
    names = {path.name for path in folder.iterdir()}
    assert names == {"matrix.mtx", "barcodes.tsv", "features.tsv.gz"}
    again = page.post(f"files/{file_id}/beside", params={"name": "barcodes.tsv"}, content=b"z")
    assert again.status_code == 400
    assert (folder / "barcodes.tsv").read_bytes() == b"y"


def test_progress_is_shown(page):
    fit_id = start(page)
    about = wait_for(page, fit_id, "running")
    assert about["progress"]["stage"] == "clusters"
    assert about["progress"]["left"] == 3.0


def test_one_fit_runs_and_others_wait(page):
    first, second, third = start(page), start(page), start(page)
    wait_for(page, first, "running")
    assert page.get(f"fits/{second}").json()["stage"] == "waiting"
    assert page.get(f"fits/{second}").json()["before"] == 1
    assert page.get(f"fits/{third}").json()["before"] == 2
    assert len(FakeCommand.started) == 1
    FakeCommand.started[0].end()
    wait_for(page, first, "done")
    wait_for(page, second, "running")
    assert page.get(f"fits/{third}").json()["before"] == 1
    assert len(FakeCommand.started) == 2


def test_a_waiting_and_a_running_fit_can_be_stopped(page):
    first, second, third = start(page), start(page), start(page)
    wait_for(page, first, "running")
    assert page.post(f"fits/{second}/stop").json()["stage"] == "stopped"
    assert page.post(f"fits/{first}/stop").json()["stage"] == "stopped"
    wait_for(page, third, "running")
    assert len(FakeCommand.started) == 2
    assert page.get(f"fits/{first}/results/row_labels.csv").status_code == 404
    assert not (page.desk.folder / "fits" / first).exists()


def test_a_finished_fit_stays_when_it_is_stopped(page):
    fit_id, _ = finished(page)
    assert page.post(f"fits/{fit_id}/stop").json()["stage"] == "done"


def test_results_can_be_saved(page):
    fit_id, about = finished(page)
    assert about["summary"]["n_row_clusters"] == 3
    assert about["warnings"] == ["careful"]
    labels = page.get(f"fits/{fit_id}/results/row_labels.csv")
    assert labels.text == "content of row_labels.csv"
    assert 'filename="a-row_labels.csv"' in labels.headers["content-disposition"]
    archive = page.get(f"fits/{fit_id}/results/all-results.zip")
    with zipfile.ZipFile(io.BytesIO(archive.content)) as file:
        names = {"summary.json", "row_labels.csv", "report.html"}
        assert set(file.namelist()) == {f"a-pyrocco/{name}" for name in names}
        assert file.testzip() is None
    assert page.get(f"fits/{fit_id}/results/model.pyrocco").status_code == 404


def test_the_report_has_an_origin_of_its_own(page):
    fit_id, _ = finished(page)
    report = page.get(f"fits/{fit_id}/report")
    assert report.text == "content of report.html"
    policy = report.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy  # default-src 'none' holds


def test_a_failed_fit_says_why(page):
    fit_id = start(page)
    wait_for(page, fit_id, "running")
    FakeCommand.started[0].outcome = Outcome(2, "", "a.csv: all cells are missing values")
    FakeCommand.started[0].ended.set()
    assert wait_for(page, fit_id, "failed")["message"] == "a.csv: all cells are missing values"


def test_a_command_that_the_system_ends_is_not_taken_for_a_stopped_one(page, tmp_path):
    for is_stopped in (False, True):
        command = Command(["inspect", "--json", str(tmp_path / "a.csv")], tmp_path)
        (command.stop if is_stopped else command._process.kill)()
        outcome = command.run()
        assert outcome.was_stopped is is_stopped
        assert is_stopped or outcome.message == ""
    fit_id = start(page)
    wait_for(page, fit_id, "running")
    FakeCommand.started[0].outcome = Outcome(-9, "", "")
    FakeCommand.started[0].ended.set()
    assert "may not have enough memory" in wait_for(page, fit_id, "failed")["message"]


def test_new_rows_are_read_like_the_rows_of_the_fit(page):
    choices = {"transpose": True, "sheet": "2", "ignore": "x", "layout": "wide"}
    fit_id, _ = finished(page, options=choices)
    new = page.desk.uploads.find(page.add("new.csv"))
    words = predict_words(
        page.desk.fits.find(fit_id).folder, new.path, page.desk.folder / "t.csv", choices
    )
    assert "--transpose" in words
    assert "--layout=wide" in words
    assert not [word for word in words if "sheet" in word or "ignore" in word]


def test_new_rows_wait_for_the_result(page):
    fit_id = start(page)
    answer = page.post(f"fits/{fit_id}/predictions", json={"file": page.add("new.csv")})
    assert answer.status_code == 409


def test_closing_stops_everything(tmp_path, monkeypatch, page):
    first, second = start(page), start(page)
    wait_for(page, first, "running")
    page.desk.fits.close()
    assert page.desk.fits.find(first).stage == "stopped"
    assert len(FakeCommand.started) == 1
    assert page.get(f"fits/{second}").json()["stage"] != "running"


def test_closing_stops_previews(page, tmp_path):
    command = FakeCommand([], tmp_path)
    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(page.desk.fits.run_aside, command)
        while not page.desk.fits._aside:
            time.sleep(0.01)
        page.desk.fits.close()
        assert outcome.result(20).was_stopped


def test_leaving_a_file_stops_its_preview(page, monkeypatch):
    monkeypatch.setattr(routes_module, "Command", FakeCommand)
    file_id, other = page.add(), page.add()
    with ThreadPoolExecutor(1) as thread:
        preview = thread.submit(page.post, f"files/{file_id}/preview", json={})
        while not page.desk.fits._aside:
            time.sleep(0.01)
        assert page.post(f"files/{other}/leave").status_code == 200
        assert page.desk.fits._aside
        assert page.post(f"files/{file_id}/leave").status_code == 200
        assert preview.result(20).json() == {"replaced": True}


def test_quitting(page):
    assert page.post("quit").status_code == 200
    assert page.quits == [True]


def test_flags_can_be_denied(tmp_path):
    options = {"header": False, "encode": True, "raw": False, "sheet": "", "annotate": ["a", "b"]}
    words = inspect_words(tmp_path / "a.csv", options, [tmp_path / "t.csv"])
    assert words[2:-1] == [
        "--no-header",
        "--encode",
        "--annotate=a",
        "--annotate=b",
        f"--annotate-from={tmp_path / 't.csv'}",
    ]


def test_messages_are_in_the_words_of_the_page(tmp_path):
    folder = tmp_path / "pyrocco-app-1"
    message = f"pyrocco: {folder / 'files' / '0a1b' / 'a.csv'}: use --row-names none"
    assert plain(message, folder) == 'a.csv: use "No column" as row names'
    hint = "If another column does, use --row-names COLUMN."
    assert plain(hint, folder) == 'If another column does, use "Row names".'


def test_ids_cannot_be_guessed(page):
    ids = {page.add() for _ in range(20)}
    assert len(ids) == 20
    assert {len(each) for each in ids} == {16}
    assert json.dumps(sorted(ids)).isascii()


@pytest.mark.parametrize("kind", [Uploads, Fits])
def test_nothing_is_found_by_odd_ids(kind, page):
    store = page.desk.uploads if kind is Uploads else page.desk.fits
    for odd in (None, "", "..", 3, ["a"], {"a": 1}):
        assert store.find(odd) is None
