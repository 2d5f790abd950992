"""The tables of the pages agree with the results."""

import re

import pytest
from benchmarks.paper import RESULTS
from benchmarks.paper.page import PAGES, filled


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: page.stem)
def page(request):
    return request.param


@pytest.fixture(scope="module")
def text(page):
    return page.read_text(encoding="utf-8")


def test_tables_agree_with_the_results(page, text):
    # `python -m benchmarks.paper --report-only` updates them.
    assert filled(text, RESULTS, PAGES[page]) == text


def test_every_table_is_on_the_page(page, text):
    assert set(re.findall(r"^<!-- ([\w-]+) -->$", text, flags=re.MULTILINE)) - {"end"} == set(
        PAGES[page](RESULTS)
    )


def test_a_changed_number_is_detected(page, text):
    row = re.search(r"^\| .*? (\d\.\d+)\b.* \|$", text, flags=re.MULTILINE)
    wrong = text.replace(row[0], row[0].replace(row[1], "9.999"), 1)
    assert wrong != text
    assert filled(wrong, RESULTS, PAGES[page]) == text


def test_prose_contains_no_measured_number(text):
    # Numbers with three decimals belong in the tables, which are checked.
    prose = re.sub(r"<!-- \w[\w-]* -->\n.*?<!-- end -->", "", text, flags=re.DOTALL)
    assert not re.findall(r"\d\.\d{3}", prose)
