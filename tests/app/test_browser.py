"""The page in a real Chromium, with a real server and real fits.

The environment variable PYROCCO_SCREENSHOTS names a folder for the pictures of docs/app.md.
"""

import base64
import io
import os
import re
import signal
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from pyrocco import load

from .conftest import Server

SECONDS = 60_000
PAGE = Path(__file__).parents[2] / "docs" / "app.md"


def patients(seed, n_rows):
    """Expression of 12 genes in patients of three kinds, with treatment and weight."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n_rows) % 3
    means = np.array([[9.0, 4, 4], [4, 9, 4], [4, 4, 9]])[kinds][:, np.arange(12) % 3]
    genes = np.round(means + rng.normal(0, 0.7, (n_rows, 12)), 2)
    table = pd.DataFrame(genes, columns=[f"gene {j}" for j in range(1, 13)])
    table.insert(0, "patient", [f"P{i:03d}" for i in range(n_rows)])
    table["treatment"] = np.where(kinds == 0, "drug", "placebo")
    table["weight"] = rng.integers(500, 900, n_rows)
    return table


MARKET = b"%%MatrixMarket matrix coordinate integer general\n6 5 4\n1 1 3\n2 3 1\n4 5 2\n6 2 1\n"


@pytest.fixture
def small_server(tmp_path):
    server = Server(tmp_path, "--max-size", "1MB")
    yield server
    server.stop()


@pytest.fixture
def open_tab(browser):
    """Open a page; fail if it has a problem, or asks anything but its server."""
    contexts, problems = [], []

    def open_tab(server):
        context = browser.new_context(
            viewport={"width": 1200, "height": 860},
            accept_downloads=True,
            color_scheme="light",
            reduced_motion="reduce",
        )
        tab = context.new_page()
        tab.set_default_timeout(SECONDS)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda message: note(message, problems))
        tab.on("request", lambda request: check_address(request.url, server, problems))
        tab.goto(server.address)
        tab.wait_for_selector("html[data-ready]")
        contexts.append(context)
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    assert problems == []


def note(message, problems):
    # Chromium writes every answer that is an error to the console.
    if "Failed to load resource" not in message.text:
        problems.append(message.text)


def check_address(address, server, problems):
    if not address.startswith((server.address, "blob:", "data:")):
        problems.append(f"asked for {address}")


def drop(tab, area, name, content):
    """Drop a file on an area, as a person does with the mouse."""
    data = base64.b64encode(content).decode()
    transfer = tab.evaluate_handle(
        """([name, data]) => {
          const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], name));
          return transfer;
        }""",
        [name, data],
    )
    for kind in ("dragenter", "dragover", "drop"):
        tab.dispatch_event(area, kind, {"dataTransfer": transfer})


def csv(table):
    return table.to_csv(index=False).encode()


def wait_until_read(tab):
    tab.wait_for_selector("#run:not([hidden])")
    expect(tab.locator("#reading")).to_have_text("", timeout=SECONDS)
    expect(tab.locator("#start")).to_be_enabled(timeout=SECONDS)


class Pictures:
    """Saves numbered screenshots."""

    def __init__(self, folder):
        self.folder = Path(os.environ.get("PYROCCO_SCREENSHOTS") or folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.names = []

    def take(self, tab, name, at=None):
        if at is not None:
            tab.locator(at).evaluate("element => element.scrollIntoView()")
        self.names.append(f"app-{len(self.names) + 1}-{name}.png")
        tab.screenshot(path=self.folder / self.names[-1])


def faults(tab):
    """What axe complains about, in light and dark."""
    axe = import_module("axe_playwright_python.sync_playwright").Axe()
    found = []
    for _ in range(2):
        tab.click("#theme")
        theme = tab.evaluate("document.documentElement.dataset.theme")
        assert tab.inner_text("#theme") == {"light": "Dark", "dark": "Light"}[theme]
        response = axe.run(tab, options={"iframes": False}).response
        found += [(fault["id"], fault["nodes"][0]["target"]) for fault in response["violations"]]
    return found


@pytest.mark.slow
def test_from_drop_to_download(server, open_tab, tmp_path):
    tab, table, pictures = open_tab(server), patients(0, 60), Pictures(tmp_path / "pictures")
    pictures.take(tab, "start")
    drop(tab, "#drop", "patients.csv", csv(table))
    check_what_was_read(tab, table)
    pictures.take(tab, "read")
    correct_what_was_read(tab)
    pictures.take(tab, "correct", at="#columns-box")
    assert faults(tab) == []

    tab.focus("#start")
    tab.keyboard.press("Enter")
    expect(tab.locator("#share")).not_to_have_text(re.compile(r"^(0\s%)?$"), timeout=SECONDS)
    pictures.take(tab, "progress", at="#run")
    tab.wait_for_selector("#result:not([hidden])")
    assert "Found 3 clusters of rows and 3 clusters of columns" in tab.inner_text("#result")
    report = tab.frame_locator("#report")
    report.locator("html[data-ready]").wait_for()
    assert "patients.csv" in report.locator("h1").inner_text()
    report.locator("#annotations-title").wait_for()  # the treatment
    report.locator("#map").evaluate("map => map.scrollIntoView()")
    pictures.take(tab, "result", at="#result")
    check_downloads(tab, table)

    check_new_rows(tab)
    pictures.take(tab, "new-rows", at="#new")
    shown = re.findall(r"_static/(app-.*?\.png)", PAGE.read_text(encoding="utf-8"))
    assert sorted(shown) == pictures.names
    assert faults(tab) == []
    tab.set_viewport_size({"width": 390, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    check_reload_and_quit(tab, server)


def check_what_was_read(tab, table):
    wait_until_read(tab)
    assert "60 rows and 13 columns" in tab.inner_text("#kind")
    first = tab.locator("#cells tbody tr").first
    assert first.locator("th").inner_text() == "P000"
    assert float(first.locator("td").first.inner_text()) == table["gene 1"][0]
    assert "treatment" in tab.locator("#notes").text_content()


def correct_what_was_read(tab):
    tab.click("#columns-box summary")
    tab.get_by_label("Use of treatment").select_option("annotation")
    tab.get_by_label("Use of weight").select_option("ignore")
    expect(tab.locator("#kind")).to_contain_text("12 columns", timeout=SECONDS)
    wait_until_read(tab)
    assert tab.locator("[name=ignore]").input_value() == "weight"
    assert tab.locator("[name=annotate]").input_value() == "treatment"


def check_new_rows(tab):
    drop(tab, "#new-drop", "new.csv", csv(patients(2, 9).drop(columns="treatment")))
    tab.wait_for_selector("#new-result:not([hidden])")
    assert tab.inner_text("#new-sentence").startswith("9 rows, ")
    with tab.expect_download() as waiting:
        tab.click("#new-download")
    labels = pd.read_csv(waiting.value.path())["label"].to_numpy()
    assert [len(set(labels[start::3])) for start in range(3)] == [1, 1, 1]


def check_reload_and_quit(tab, server):
    tab.reload()
    tab.wait_for_selector("#result:not([hidden])")
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.click("#quit")
    expect(tab.locator("#gone")).to_contain_text("has ended")
    assert server.process.wait(30) == 0
    assert server.folders == []


def check_downloads(tab, table):
    saved = {}
    for link in tab.locator("#downloads a").all():
        with tab.expect_download() as waiting:
            link.click()
        saved[waiting.value.suggested_filename] = waiting.value.path()
    assert set(saved) == {
        "patients-all-results.zip",
        "patients-row_labels.csv",
        "patients-column_labels.csv",
        "patients-heatmap.png",
        "patients-report.html",
        "patients-model.pyrocco",
    }
    labels = pd.read_csv(saved["patients-row_labels.csv"])
    assert labels["name"].tolist() == table["patient"].tolist()
    assert [len(set(labels["label"][start::3])) for start in range(3)] == [1, 1, 1]
    assert saved["patients-heatmap.png"].read_bytes()[1:4] == b"PNG"
    model = load(saved["patients-model.pyrocco"])
    np.testing.assert_array_equal(model.row_labels_, labels["label"])
    with zipfile.ZipFile(io.BytesIO(saved["patients-all-results.zip"].read_bytes())) as archive:
        assert "patients-pyrocco/summary.json" in archive.namelist()


@pytest.mark.slow
def test_refusals_and_a_restarted_server(small_server, open_tab, tmp_path):
    server = small_server
    tab = open_tab(server)
    drop(tab, "#drop", "large.csv", b"1," * 600_000)
    tab.wait_for_selector("#upload-error:not([hidden])")
    assert "large.csv has 1.2 MB, but the limit of this page is 1 MB" in tab.inner_text("main")
    drop(tab, "#drop", "letter.docx", b"Dear Sir")
    expect(tab.locator("#upload-error")).to_contain_text("docx")
    assert "cannot be read. Files that can be read end in .csv" in tab.inner_text("#upload-error")
    drop(tab, "#drop", "broken.xlsx", b"not a workbook")
    tab.wait_for_selector("#read-error:not([hidden])")
    message = tab.inner_text("#read-error")
    assert message.startswith("broken.xlsx: ")
    assert str(tmp_path) not in message
    assert "--" not in message

    assert server.stop() == 0
    assert server.folders == []
    tab.wait_for_selector("#gone:not([hidden])")
    assert "pyrocco app is not running any more" in tab.inner_text("#gone")
    assert tab.locator("#file").is_disabled()

    again = Server(tmp_path, "--port", str(server.port))
    try:
        answer = tab.goto(server.address)
        assert answer.status == 403
        assert "It belongs to an earlier run of pyrocco app" in tab.inner_text("main")
    finally:
        assert again.stop(signal.SIGINT) == 0
    assert again.folders == []


def workbook(sheets):
    file = io.BytesIO()
    with pd.ExcelWriter(file) as writer:
        for name, table in sheets.items():
            table.to_excel(writer, sheet_name=name, index=False)
    return file.getvalue()


def annotated(table, path):
    anndata = pytest.importorskip("anndata")
    genes = table.set_index("patient").filter(like="gene")
    anndata.AnnData(genes).write_h5ad(path)
    return path.read_bytes()


MARKUP = "<img src=x onerror=alert(1)>"


@pytest.mark.slow
def test_other_formats_and_names_with_markup(server, open_tab, tmp_path):
    tab, table = open_tab(server), patients(3, 40)
    named = table.rename(columns={"gene 2": MARKUP})
    notes = pd.DataFrame({"Measured in laboratory 3": ["see the sheet values"]})
    drop(tab, "#drop", "a&b<i>.xlsx", workbook({"notes": notes, "values": named}))
    expect(tab.locator("#read-error")).to_contain_text("has 2 sheets", timeout=SECONDS)
    tab.get_by_label("Sheet").select_option("values")
    expect(tab.locator("#kind")).to_contain_text("40 rows", timeout=SECONDS)
    wait_until_read(tab)
    assert MARKUP in tab.locator("#cells thead").inner_text()
    assert tab.locator("main img").count() == 0

    drop(tab, "#drop", "cells.h5ad", annotated(table, tmp_path / "cells.h5ad"))
    expect(tab.locator("#kind")).to_contain_text("40 cells and 12 genes", timeout=SECONDS)
    assert tab.locator("#columns-box").is_hidden()

    names = {"barcodes.tsv": "\n".join("ABCDEF"), "features.tsv": "\n".join("vwxyz")}
    market = [("matrix.mtx", MARKET), *((name, text.encode()) for name, text in names.items())]
    files = [{"name": name, "mimeType": "", "buffer": content} for name, content in market]
    tab.set_input_files("#file", files)
    expect(tab.locator("#kind")).to_contain_text("6", timeout=SECONDS)
    wait_until_read(tab)
    shown = tab.locator("#cells").inner_text()
    assert {"A", "F", "v", "z"} <= set(shown.split())


def drop_folder(tab, area, folder):
    """Drop a folder of this computer, which only Chromium's own protocol can do."""
    box = tab.locator(area).bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    session = tab.context.new_cdp_session(tab)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})


@pytest.mark.slow
def test_a_folder_stands_for_the_matrix_market_file_in_it(server, open_tab, tmp_path):
    tab = open_tab(server)
    empty, folder = tmp_path / "photographs", tmp_path / "filtered_feature_bc_matrix"
    for each in (empty, folder):
        each.mkdir()
    drop_folder(tab, "#drop", empty)
    expect(tab.locator("#upload-error")).to_contain_text("photographs does not hold one Matrix")
    (folder / "matrix.mtx").write_bytes(MARKET)
    (folder / "barcodes.tsv").write_text("\n".join("ABCDE"))
    (folder / "features.tsv").write_text("\n".join("uvwxyz"))
    (folder / "notes.docx").write_bytes(b"Dear Sir")
    drop_folder(tab, "#drop", folder)
    expect(tab.locator("#kind")).to_contain_text("5 rows and 6 columns", timeout=SECONDS)
    assert {"A", "E", "u", "z"} <= set(tab.locator("#cells").inner_text().split())
    assert tab.locator("#upload-error").is_hidden()


@pytest.mark.slow
def test_a_running_fit_is_not_lost_to_another_file(server, open_tab):
    tab, waiting = open_tab(server), open_tab(server)
    drop(tab, "#drop", "many.csv", csv(patients(0, 5000)))
    drop(waiting, "#drop", "more.mtx", MARKET)
    wait_until_read(waiting)
    wait_until_read(tab)
    tab.click("#start")
    waiting.click("#start")
    expect(waiting.locator("#stage")).to_contain_text("Waiting for 1 other fit")
    waiting.click("#stop")
    expect(waiting.locator("#run-error")).to_contain_text("The fit was stopped")
    assert waiting.locator("#result").is_hidden()
    drop(tab, "#drop", "other.csv", csv(patients(1, 60)))
    expect(tab.locator("#upload-error")).to_contain_text("A fit is running")
    tab.click("#stop")
    expect(tab.locator("#run-error")).to_contain_text("The fit was stopped", timeout=SECONDS)
    drop(tab, "#drop", "other.csv", csv(patients(1, 60)))
    expect(tab.locator("#kind")).to_contain_text("60 rows", timeout=SECONDS)
    wait_until_read(tab)
    tab.click("#start")
    tab.wait_for_selector("#result:not([hidden])")
    assert "in other.csv" in tab.inner_text("#result-sentence")
