"""The report in a real Chromium, opened from disk and offline."""

import io
import os
import re
from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pyrocco import ROCCO, cross_table
from pyrocco.io.result_files import escape_formulas
from pyrocco.plots.tracks import make_tracks
from pyrocco.report import write_report

from .conftest import NASTY, Given, planted_matrix


def visible_range(page):
    """First and last visible row and column."""
    text = page.locator("#view-text").inner_text().replace(",", "")
    return [int(n) for pair in re.findall(r"(\d+)\u2013(\d+) of", text) for n in pair]


def settled(page):
    """Wait for two frames, so that everything is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def middle_of_heatmap(page):
    """A point well inside the heat map, in pixels of the window."""
    page.locator("#map").scroll_into_view_if_needed()
    page.locator("#heatmap").scroll_into_view_if_needed()
    page.wait_for_timeout(350)  # soon after scrolling, the wheel scrolls the page
    box = page.locator("#heatmap").bounding_box()
    return box["x"] + 150 + (box["width"] - 154) / 2, box["y"] + 28 + (box["height"] - 144) / 2


def test_the_summary_is_shown_and_names_are_only_text(open_page, planted_page):
    path, model, _, names = planted_page
    page = open_page(path)
    words = page.locator("#summary").inner_text()
    assert f"pyrocco found {model.n_row_clusters_} row clusters" in words
    assert NASTY in words  # the warning, letter for letter
    assert "owned" not in page.title().split("<")[0]
    assert page.locator("img").count() == 0
    page.fill("#rows-search", NASTY[:12])
    assert page.locator("#rows-table tbody td").first.inner_text() == NASTY
    assert page.locator("#trouble").is_hidden()
    assert len(names["row_names"]) == 90


def test_wheel_buttons_and_keys_zoom(open_page, planted_page):
    page = open_page(planted_page[0])
    assert visible_range(page) == [1, 90, 1, 36]
    page.mouse.move(*middle_of_heatmap(page))
    page.mouse.wheel(0, -400)
    settled(page)
    by_wheel = visible_range(page)
    assert by_wheel[0] > 1
    assert by_wheel[1] - by_wheel[0] < 60
    page.click("#zoom-in")
    settled(page)
    assert visible_range(page)[1] - visible_range(page)[0] < by_wheel[1] - by_wheel[0]
    page.focus("#heatmap")
    page.keyboard.press("0")
    settled(page)
    assert visible_range(page) == [1, 90, 1, 36]
    page.keyboard.press("+")
    page.keyboard.press("+")
    settled(page)
    before = visible_range(page)
    page.keyboard.press("ArrowDown")
    settled(page)
    after = visible_range(page)
    assert after[0] > before[0]
    assert after[2:] == before[2:]
    for _ in range(3):
        page.keyboard.press("-")
    settled(page)
    assert visible_range(page) == [1, 90, 1, 36]


def test_dragging_moves_the_heat_map(open_page, planted_page):
    page = open_page(planted_page[0])
    page.click("#zoom-in")
    page.click("#zoom-in")
    settled(page)
    before = visible_range(page)
    x, y = middle_of_heatmap(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 150, y + 150, steps=4)
    page.mouse.up()
    settled(page)
    after = visible_range(page)
    assert after[0] < before[0]
    assert after[2] < before[2]


def test_two_fingers_zoom(open_page, planted_page):
    page = open_page(planted_page[0])
    x, y = middle_of_heatmap(page)
    page.evaluate(
        """([x, y]) => {
          const canvas = document.getElementById("heatmap");
          canvas.setPointerCapture = () => {};
          const send = (kind, pointerId, clientX, clientY) => canvas.dispatchEvent(
            new PointerEvent(kind, { pointerId, clientX, clientY, bubbles: true }));
          send("pointerdown", 1, x - 40, y); send("pointerdown", 2, x + 40, y);
          send("pointermove", 2, x + 160, y);
          send("pointerup", 1, x - 40, y); send("pointerup", 2, x + 160, y);
        }""",
        [x, y],
    )
    settled(page)
    first, last = visible_range(page)[:2]
    assert last - first < 60


def test_hovering_shows_names_clusters_and_the_value(open_page, planted_page):
    page = open_page(planted_page[0])
    x, y = middle_of_heatmap(page)
    for across, down in [(0, 0), (-180, 90), (230, -110)]:
        page.mouse.move(x + across, y + down)
        check_tip(page, *planted_page[1:])
    page.focus("#heatmap")
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def check_tip(page, model, X, names):
    tip = page.locator("#tip").inner_text()
    row, column, value = tip.splitlines()
    row_name, row_cluster = re.fullmatch(r"row (.*) \(R(\d+)\)", row).groups()
    column_name, column_cluster = re.fullmatch(r"column (.*) \(C(\d+)\)", column).groups()
    i, j = names["row_names"].index(row_name), names["column_names"].index(column_name)
    assert model.row_labels_[i] == int(row_cluster)
    assert model.column_labels_[j] == int(column_cluster)
    assert float(value.removeprefix("value: ").replace("\u2212", "-")) == pytest.approx(
        X[i, j], 1e-3
    )
    assert row in page.locator("#readout").inner_text()


def test_the_cursor_reads_out_cells_without_a_mouse(open_page, planted_page):
    page = open_page(planted_page[0])
    page.focus("#heatmap")
    page.keyboard.press("Shift+ArrowRight")
    first = page.locator("#readout").inner_text()
    page.keyboard.press("Shift+ArrowDown")
    second = page.locator("#readout").inner_text()
    assert first.startswith("row ")
    assert first != second


def test_find_goes_to_a_name(open_page, planted_page):
    page = open_page(planted_page[0])
    page.fill("#find", "sample 33")
    page.press("#find", "Enter")
    settled(page)
    assert "row sample 33 (" in page.locator("#readout").inner_text()
    first, last = visible_range(page)[:2]
    assert last - first < 30
    page.fill("#find", "no such name")
    page.press("#find", "Enter")
    assert page.locator("#readout").inner_text() == "No row or column is named no such name."


def test_tables_search_filter_sort_and_turn_pages(open_page, planted_page):
    path, model, _, names = planted_page
    page = open_page(path)
    found = page.locator("#rows-found")
    body = page.locator("#rows-table tbody tr")
    assert found.inner_text() == "90 rows of 90, showing 1\u201320"
    page.fill("#rows-search", "SAMPLE 4")
    wanted = [name for name in names["row_names"] if "sample 4" in name]
    assert found.inner_text().startswith(f"{len(wanted)} rows of 90")
    page.fill("#rows-search", "")
    page.select_option("#rows-cluster", "1")
    assert found.inner_text().startswith(f"{np.sum(model.row_labels_ == 1)} rows of 90")
    page.select_option("#rows-cluster", "")
    page.get_by_role("button", name="Next").first.click()
    assert found.inner_text().endswith("showing 21\u201340")
    title = page.locator("#rows-table th", has_text="membership")
    title.get_by_role("button").click()
    assert title.get_attribute("aria-sort") == "ascending"
    least = names["row_names"][int(np.argmin(np.round(model.row_membership_, 3)))]
    share = f"{round(100 * float(np.round(model.row_membership_, 3).min()))}\u00a0%"
    assert share in body.first.inner_text() or least in body.first.inner_text()
    title.get_by_role("button").click()
    assert title.get_attribute("aria-sort") == "descending"


def downloaded(page, side):
    with page.expect_download() as download:
        page.click(f"#{side}s-download")
    assert download.value.suggested_filename == f"{side}_labels.csv"
    text = download.value.path().read_text(encoding="utf-8")
    return pd.read_csv(io.StringIO(text), dtype={"name": str})


def test_downloads_are_the_labels(open_page, planted_page):
    path, model, _, names = planted_page
    page = open_page(path)
    for side in ("row", "column"):
        table = downloaded(page, side)
        assert table["name"].tolist() == escape_formulas(names[f"{side}_names"])
        np.testing.assert_array_equal(table["label"], getattr(model, f"{side}_labels_"))
        membership = getattr(model, f"{side}_membership_")
        np.testing.assert_allclose(table["membership"], membership, atol=6e-4)


def chosen_numbers(page):
    """Numbers of row clusters and of column clusters that the sliders show."""
    texts = [page.locator(f"#{side}-level-text").inner_text() for side in ("row", "column")]
    return [int(text.split()[0]) for text in texts]


def test_each_slider_gives_the_cuts_of_the_model(open_page, planted_page):
    path, model, _, _ = planted_page
    page = open_page(path)
    fitted = chosen_numbers(page)
    assert fitted == [model.n_row_clusters_, model.n_column_clusters_]
    assert page.locator("#row-level-text").inner_text().endswith(" (as fitted)")
    assert page.locator("#level-fit").is_hidden()
    steps = [("row", "ArrowLeft"), ("column", "ArrowRight"), ("row", "End"), ("column", "Home")]
    for side, key in steps:
        before = chosen_numbers(page)
        page.focus(f"#{side}-level")
        page.keyboard.press(key)
        numbers = chosen_numbers(page)
        other = side == "row"
        assert numbers[other] == before[other]
        assert numbers[not other] != before[not other]
        cut = model.at(*numbers)
        np.testing.assert_array_equal(downloaded(page, "row")["label"], cut.row_labels_)
        np.testing.assert_array_equal(downloaded(page, "column")["label"], cut.column_labels_)
        assert page.locator("#grid td button").count() == numbers[0] * numbers[1]
        words = page.get_attribute(f"#{side}-level", "aria-valuetext")
        assert words.startswith(f"{numbers[not other]} {side} cluster")
    page.click("#level-fit")
    assert chosen_numbers(page) == fitted


def saved(page, control):
    with page.expect_download() as download:
        page.click(control)
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_the_explanation_is_that_of_the_model(open_page, planted_page):
    path, model, _, names = planted_page
    page = open_page(path)
    page.focus("#column-level")
    for key in ("", "ArrowLeft"):
        if key:
            page.keyboard.press(key)
        cut = model.at(*chosen_numbers(page))
        name, content = saved(page, "#explanation-download")
        assert name == "explanation.csv"
        found = pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values={"effect": ""})
        expected = cut.explain(column_names=escape_formulas(names["column_names"]))
        assert list(found) == list(expected)
        order = ["row_cluster", "kind", "column_cluster", "column"]
        expected["column"] = expected["column"].fillna("")
        pairs = (table.sort_values(order, ignore_index=True) for table in (found, expected))
        for title, found_cells, cells in (
            (title, one[title], other[title]) for one, other in [tuple(pairs)] for title in one
        ):
            if title in ("kind", "column", "direction"):
                assert found_cells.tolist() == cells.tolist(), title
            else:
                numbers = pd.to_numeric(found_cells).to_numpy(float)
                np.testing.assert_allclose(
                    numbers, cells.astype(float), rtol=1e-3, atol=6e-4, err_msg=title
                )


def test_pictures_of_the_visible_part_are_saved(open_page, annotated_page):
    page = open_page(annotated_page[0])
    name, png = saved(page, "#save-png")
    assert name == "heatmap.png"
    assert png.startswith(b"\x89PNG")
    width = int.from_bytes(png[16:20], "big")
    assert width == 3 * page.evaluate("document.getElementById('heatmap').clientWidth")
    page.fill("#find", "gene 7")
    page.press("#find", "Enter")
    settled(page)
    name, svg = saved(page, "#save-svg")
    assert name == "heatmap.svg"
    root = ElementTree.fromstring(svg.decode("utf-8"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"gene 7", "age", "missing", "drug"} <= set(texts)
    assert 20 < sum(text.startswith("gene ") for text in texts) < 30
    assert b"NaN" not in svg
    images = list(root.iter("{http://www.w3.org/2000/svg}image"))
    assert len(images) == 1
    assert images[0].get("href").startswith("data:image/png;base64,")


def test_bars_name_their_clusters_beside_names_of_rows(open_page, planted_page):
    page = open_page(planted_page[0])
    page.fill("#find", "sample 33")
    page.press("#find", "Enter")
    settled(page)
    root = ElementTree.fromstring(saved(page, "#save-svg")[1].decode("utf-8"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    cluster = planted_page[1].row_labels_[33]
    assert {"sample 33", f"R{cluster}"} <= set(texts)


def pixels_of(page, colour):
    """Number of pixels of the heat map with a colour."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return page.evaluate(
        """([red, green, blue]) => { const canvas = document.getElementById("heatmap");
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
      let found = 0;
      for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i] === red && pixels[i + 1] === green && pixels[i + 2] === blue) found++;
      }
      return found; }""",
        [red, green, blue],
    )


def test_annotations_are_drawn_beside_the_heat_map(open_page, annotated_page):
    path, _, _, annotations = annotated_page
    page = open_page(path)
    settled(page)
    track = make_tracks([annotations], {})[0][0]
    drawn = [pixels_of(page, colour) for colour in track.colours]
    assert min(drawn) > 300
    known = annotations.iloc[:, 0].value_counts()
    assert (drawn[0] > drawn[1]) == (known[track.categories[0]] > known[track.categories[1]])
    legend = page.locator("#annotation-legend")
    assert "drug" in legend.inner_text()
    legend.get_by_role("checkbox").first.uncheck()
    settled(page)
    assert [pixels_of(page, colour) for colour in track.colours] == [0, 0]
    page.mouse.move(*middle_of_heatmap(page))
    tip = page.locator("#tip").inner_text()
    name = re.search(r"^row (.*) \(R", tip, flags=re.MULTILINE)[1]
    age = re.search(r"^age: (.*)$", tip, flags=re.MULTILINE)[1]
    assert float(age) == pytest.approx(annotations.loc[name, "age"], rel=1e-3)


def test_rows_are_filtered_by_an_annotation(open_page, annotated_page):
    path, _, _, annotations = annotated_page
    page = open_page(path)
    settled(page)
    white = pixels_of(page, "#ffffff")
    found, shown = page.locator("#row-filter-found"), page.locator("#rows-found")
    page.select_option("#row-filter", "0")
    page.select_option("#row-filter-value", label="drug")
    n_drug = int((annotations.iloc[:, 0] == "drug").sum())
    assert found.inner_text() == f"{n_drug} rows of 90; the others are faded"
    assert shown.inner_text().startswith(f"{n_drug} rows of 90")
    page.select_option("#row-filter-value", label="missing")
    assert shown.inner_text().startswith(f"{annotations.iloc[:, 0].isna().sum()} rows of 90")
    page.select_option("#row-filter", "1")
    page.fill("#row-filter-from", "40")
    assert shown.inner_text().startswith(f"{(annotations['age'] >= 40).sum()} rows of 90")
    page.fill("#row-filter-to", "41")
    within = annotations["age"].between(40, 41)
    assert shown.inner_text().startswith(f"{within.sum()} rows of 90")
    body = page.locator("#rows-table tbody tr")
    assert body.count() == min(20, within.sum())
    settled(page)
    assert pixels_of(page, "#ffffff") == pytest.approx(white, rel=0.2)  # faded, not removed
    title = page.locator("#rows-table th", has_text="age")
    title.get_by_role("button").click()
    ages = [float(row.locator("td").nth(4).inner_text()) for row in body.all()]
    assert ages == sorted(ages)
    page.select_option("#row-filter", "")
    assert found.inner_text() == ""
    assert shown.inner_text().startswith("90 rows of 90")


def test_labels_are_downloaded_with_annotations(open_page, annotated_page):
    path, model, _, annotations = annotated_page
    page = open_page(path)
    with page.expect_download() as download:
        page.click("#rows-download")
    table = pd.read_csv(download.value.path())
    assert list(table) == ["name", "label", "membership", *annotations]
    np.testing.assert_array_equal(table["label"], model.row_labels_)
    np.testing.assert_allclose(table["age"], annotations["age"], rtol=1e-6)
    assert table.iloc[:, 3].fillna("").tolist() == annotations.iloc[:, 0].fillna("").tolist()


def test_cross_tables_follow_the_slider(open_page, annotated_page):
    path, model, _, annotations = annotated_page
    page = open_page(path)
    for _ in range(2):
        cut = model.at(*chosen_numbers(page))
        cards = page.locator("#row-crosstables article")
        counts = cross_table(cut.row_labels_, annotations.iloc[:, 0])
        for line in cards.nth(0).locator("tbody tr").all():
            cluster = int(line.locator("th").inner_text()[1:])
            cells = [int(text.split()[0]) for text in line.locator("td").all_inner_texts()]
            missing = annotations.iloc[:, 0].isna() & (cut.row_labels_ == cluster)
            assert cells == [*counts.loc[cluster], missing.sum()]
        numbers = cross_table(cut.row_labels_, annotations["age"])
        for line in cards.nth(1).locator("tbody tr").all():
            cluster = int(line.locator("th").inner_text()[1:])
            cells = [float(text) for text in line.locator("td").all_inner_texts()]
            np.testing.assert_allclose(cells, numbers.loc[cluster], rtol=6e-3)
        page.focus("#row-level")
        page.keyboard.press("ArrowLeft")


def test_dates_are_written_filtered_and_tabulated(open_page, tmp_path):
    X, row_names, column_names = planted_matrix()
    model = ROCCO().fit(X)
    days = pd.Series(pd.date_range("2024-01-01", periods=90), row_names, name="visit")
    frame = pd.DataFrame(X, row_names, column_names)
    write_report(tmp_path / "report.html", model, frame, row_annotations=days)
    page = open_page(tmp_path / "report.html")
    legend = page.locator("#annotation-legend").inner_text()
    assert "2024-01-01" in legend
    assert "2024-03-30" in legend
    page.select_option("#row-filter", label="visit")
    page.fill("#row-filter-to", "2024-01-05")
    assert page.locator("#row-filter-found").inner_text().startswith("5 rows of 90")
    table = cross_table(model.row_labels_, days)
    for line in page.locator("#row-crosstables article tbody tr").all():
        cluster = int(line.locator("th").inner_text()[1:])
        n, *dates = line.locator("td").all_inner_texts()
        assert int(n) == table.loc[cluster, "n"]
        assert dates == [
            f"{table.loc[cluster, name]:%Y-%m-%d}" for name in ("median", "min", "max")
        ]
    with page.expect_download() as download:
        page.click("#rows-download")
    saved = pd.read_csv(download.value.path())
    assert saved["visit"].tolist() == [f"{day:%Y-%m-%d}" for day in days]


def test_cells_and_genes_are_called_so_everywhere(open_page, tmp_path):
    X, _, _ = planted_matrix()
    X = np.abs(np.round(X)).astype(float)
    X[3, 3] = np.nan
    cells, genes = [f"c{i}" for i in range(90)], [f"g{j}" for j in range(36)]
    frame = pd.DataFrame(X, cells, genes)
    batch = pd.DataFrame({"batch": ["a", "b"] * 45}, cells)
    chromosome = pd.DataFrame({"chromosome": ["1", "2", "X"] * 12}, genes)
    annotations = {"row_annotations": batch, "column_annotations": chromosome}
    path = tmp_path / "report.html"
    model = ROCCO().fit(frame)
    write_report(path, model, frame, **annotations, axis_names=("cell", "gene"))
    page = open_page(path)
    words = page.locator("body").inner_text()
    assert re.findall(r"(?i)[^\n]*\b(?:rows?|columns?)\b[^\n]*", words) == []
    assert f"{model.n_row_clusters_} cell clusters" in words
    assert "Annotations of the genes" in words
    page.mouse.move(*middle_of_heatmap(page))
    tip = page.locator("#tip").inner_text()
    assert re.match(r"cell c\d+ \(C\d+\)\nbatch: [ab]\ngene g\d+ \(G\d+\)\nchromosome: ", tip)


def test_more_than_eight_clusters_have_colours_of_their_own(open_page, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 40))
    write_report(tmp_path / "report.html", Given(X.shape, 20), X)
    page = open_page(tmp_path / "report.html")
    swatches = page.locator("#grid tbody th .swatch").evaluate_all(
        "all => all.map(one => one.style.background)"
    )
    assert len(set(swatches)) == 20


def test_blocks_are_chosen_by_mouse_and_keys(open_page, planted_page):
    path, model, _, _ = planted_page
    page = open_page(path)
    page.locator("#grid td button").nth(4).click()
    block = page.locator("#block")
    row, column = (int(n) for n in re.findall(r"[RC](\d+)", block.locator("h3").inner_text()))
    size = f"{np.sum(model.row_labels_ == row)} rows by {np.sum(model.column_labels_ == column)}"
    assert size in block.inner_text()
    page.keyboard.press("ArrowLeft")
    assert block.locator("h3").inner_text() != f"R{row} with C{column}"
    assert page.locator("#grid td button[tabindex='0']").count() == 1
    assert page.locator("#cluster-cards article").count() == model.n_row_clusters_
    block.get_by_role("button", name="Show in the heat map").click()
    settled(page)
    assert visible_range(page) != [1, 90, 1, 36]
    block.get_by_role("button", name="List its rows").click()
    assert page.locator("#rows-cluster").input_value() == str(row)


def test_cards_show_what_the_model_explains(open_page, planted_page):
    path, model, _, names = planted_page
    page = open_page(path)
    table = model.explain(column_names=names["column_names"])
    for card in page.locator("#cluster-cards article").all():
        row = int(re.search(r"R(\d+)", card.locator("h4").inner_text())[1])
        own = table[table["row_cluster"] == row]
        first = own[own["kind"] == "column"].iloc[0]
        shown = card.locator("tbody td").all_inner_texts()[:4]
        assert shown[0] == first["column"]
        shown_numbers = [float(text.replace("\u2212", "-")) for text in shown[1:]]
        np.testing.assert_allclose(
            shown_numbers, first[["mean", "rest_mean", "effect"]].astype(float), 6e-3
        )
        higher = own[(own["kind"] == "block") & (own["effect"] >= 0.2)]["column_cluster"]
        sentence = card.locator("p").first.inner_text()
        sentence = re.split("(?i)lower", sentence)[0]
        assert {int(n) for n in re.findall(r"C(\d+)", sentence)} == set(higher)


def test_more_than_nine_clusters_are_shown_on_request(open_page, planted_page):
    path, model, _, _ = planted_page
    page = open_page(path)
    page.focus("#row-level")
    page.keyboard.press("End")
    finest = model.tree_.rows.n_finest
    assert page.locator("#cluster-cards article").count() == min(9, finest) < finest
    page.get_by_role("button", name=re.compile(r"^Show \d+ more row cluster")).click()
    assert page.locator("#cluster-cards article").count() == finest


def test_dark_and_light(open_page, planted_page):
    page = open_page(planted_page[0], color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(18, 24, 31)"
    page.get_by_role("button", name="Use light colours").click()
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    # It is remembered. A busy browser may take a moment to write it down.
    for _ in range(5):
        page.reload()
        page.wait_for_selector("html[data-ready]")
        if page.evaluate(paper) == "rgb(255, 255, 255)":
            break
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_prints_everything_without_controls(open_page, annotated_page):
    page = open_page(annotated_page[0], color_scheme="dark")
    # What printing shows, noted at the moment at which it begins.
    page.evaluate("""() => {
      const count = (places) => document.querySelectorAll(places).length;
      window.addEventListener("beforeprint", () => { window.printed = {
        theme: document.documentElement.dataset.theme, rows: count("#rows-table tbody tr"),
        closed: count("details:not([open])"), cards: count("#cluster-cards article") }; });
    }""")
    page.focus("#row-level")
    page.keyboard.press("End")
    n_clusters = chosen_numbers(page)[0]
    before = page.locator("#cluster-cards article").count()
    assert before < n_clusters
    assert page.pdf(format="A4").count(b"/Type /Page\n") + 1 >= 4
    printed = page.evaluate("window.printed")
    assert printed == {"theme": "light", "rows": 90, "closed": 0, "cards": n_clusters}
    # Afterwards the page is as before.
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("#rows-table tbody tr").count() == 20
    assert page.locator("#cluster-cards article").count() == before
    assert page.locator("details[open]").count() == 0
    page.emulate_media(media="print")
    for control in ("#row-level", "#zoom-in", "#rows-search", "#theme", "nav", "#filters"):
        assert page.locator(control).is_hidden(), control
    for part in ("#summary", "#heatmap", "#grid", "#rows-table", "#cite", "#annotation-legend"):
        assert page.locator(part).is_visible(), part


@pytest.mark.slow
def test_axe_finds_no_fault(open_page, annotated_page):
    if os.environ.get("PYROCCO_BROWSER") != "required":  # as it is in CI
        pytest.importorskip("axe_playwright_python")
    axe = import_module("axe_playwright_python.sync_playwright").Axe()
    page = open_page(annotated_page[0])
    page.select_option("#row-filter", "1")
    page.get_by_text("All tests").click()
    page.focus("#row-level")
    page.keyboard.press("ArrowRight")
    faults = []
    for theme in ("light", "dark"):
        if theme == "dark":
            page.click("#theme")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            for fault in axe.run(page).response["violations"]:
                places = [node["target"] for node in fault["nodes"]]
                faults.append((theme, width, fault["id"], places))
    assert faults == []


def test_a_page_that_is_being_read_says_so(browser, planted_page):
    context = browser.new_context(offline=True)
    context.add_init_script("Response.prototype.arrayBuffer = () => new Promise(() => {});")
    page = context.new_page()
    page.goto(planted_page[0].as_uri())
    assert page.locator("#loading").inner_text().startswith("Loading the heat map")
    assert page.locator("#trouble").is_hidden()
    context.close()
    page = browser.new_page()
    page.goto(planted_page[0].as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#loading").is_hidden()
    page.close()


def test_a_narrow_window_needs_no_sideways_scrolling(open_page, planted_page):
    page = open_page(planted_page[0], viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_control_has_a_name_and_can_be_focused(open_page, planted_page):
    page = open_page(planted_page[0])
    nameless = page.evaluate(
        """[...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter(
          (one) => !(one.ariaLabel || one.labels?.length || one.textContent.trim())
        ).map((one) => one.outerHTML)"""
    )
    assert nameless == []
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1, landmark
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_missing_values_and_outlier_cells_are_shown(open_page, tmp_path):
    rng = np.random.default_rng(1)
    X = np.kron(np.eye(2), np.full((20, 15), 5.0)) + rng.standard_normal((40, 30))
    model = ROCCO(2).fit(X)
    X = X.copy()
    X[:, 3] = np.nan
    model.cell_weights_ = np.ones_like(X)
    model.cell_weights_[:, 3], model.cell_weights_[:, 8] = np.nan, 0.1
    path = tmp_path / "report.html"
    write_report(path, model, X)
    page = open_page(path)
    assert page.locator("#legend-missing").is_visible()
    page.fill("#find", "column_3")
    page.press("#find", "Enter")
    assert page.locator("#readout").inner_text().endswith("value: missing")
    page.fill("#find", "column_8")
    page.press("#find", "Enter")
    assert page.locator("#readout").inner_text().endswith("weight: 10\u00a0%")
    grey = """() => { const canvas = document.getElementById("heatmap");
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
      let grey = 0;
      for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i] === 115 && pixels[i + 1] === 115 && pixels[i + 2] === 115) grey++;
      }
      return grey; }"""
    page.click("#zoom-reset")
    settled(page)
    assert page.evaluate(grey) > 1000
    page.uncheck("#outliers")
    settled(page)
    assert page.evaluate(grey) < 200


def test_a_sparse_matrix_of_a_model_with_labels_only(open_page, tmp_path):
    X = sparse.csr_array(sparse.random(300, 50, 0.05, random_state=0))
    write_report(tmp_path / "report.html", Given(X.shape), X)
    page = open_page(tmp_path / "report.html")
    assert page.locator("#row-level").is_disabled()
    assert page.locator("#explanation-download").is_hidden()
    assert page.locator("#rows-table th").all_inner_texts() == ["name", "cluster", "heat map"]


def test_a_single_cluster_is_compared_with_nothing(open_page, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 30))
    model = ROCCO().fit(X)
    assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)
    write_report(tmp_path / "report.html", model, X)
    page = open_page(tmp_path / "report.html")
    assert "nothing to compare it with" in page.locator("#cluster-cards").inner_text()
    assert chosen_numbers(page) == [1, 1]


def test_an_old_browser_and_an_incomplete_file_get_a_message(browser, planted_page, tmp_path):
    path = planted_page[0]
    context = browser.new_context(offline=True)
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(path.as_uri())
    assert "too old" in page.locator("#trouble").inner_text()
    context.close()
    text = path.read_text(encoding="utf-8")
    cut = tmp_path / "cut.html"
    cut.write_text(re.sub(r'("text":"[^"]{40})[^"]+"', r'\1"', text), encoding="utf-8")
    page = browser.new_page()
    page.goto(cut.as_uri())
    page.wait_for_selector("#trouble:visible")
    assert "pyrocco report" in page.locator("#trouble").inner_text()
    page.close()
