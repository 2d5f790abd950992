"""What the cells and columns of a table hold, and what each column is used for."""

import pytest

from pyrocco.io.cell_texts import NumberFormat, cell_problem, column_kind, is_number
from pyrocco.io.column_facts import ColumnFacts
from pyrocco.io.columns import detect_columns
from pyrocco.io.roles import Roles, assign_roles

TEXTS, REPEATED = ColumnFacts("text", ("x", "y")), ColumnFacts("text", ("x", "x"))
NUMBERS = ColumnFacts("number", ("1.5", "2"))


@pytest.mark.parametrize(
    ("cell", "decimal", "thousands", "expected"),
    [
        ("1,5", ",", "", True),
        ("1,5", ".", "", False),
        ("-2e3", ".", "", True),
        ("nan", ".", "", False),
        ("1.234,5", ",", ".", True),
        ("-1,234,567.5", ".", ",", True),
        ("1,23", ".", ",", False),
        ("1234,567", ".", ",", False),
        ("1.2,345", ".", ",", False),
        ("12 345", ".", " ", True),
    ],
)
def test_numbers(cell, decimal, thousands, expected):
    assert is_number(cell, NumberFormat(decimal, thousands)) is expected


def test_problems_of_cells():
    assert cell_problem("low") == 'holds the text "low", not a number'
    assert cell_problem("NA") == ""
    assert 'holds "1,234", but most numbers are written without' in cell_problem("1,234")
    assert cell_problem("maybe", are_answers=True) == 'holds "maybe", which is neither yes nor no'


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "NA", "high"], "number"),
        (["kinase", "-"], "text"),
        (["", ""], "empty"),
        (["yes", "No", ""], "answer"),
        (["present", "present"], "answer"),
        (["n", "n"], "text"),
        (["yes", "nein"], "text"),
    ],
)
def test_kinds_of_columns(cells, kind):
    assert column_kind(cells) == kind


def test_the_first_column_of_text_holds_the_row_names():
    facts = [TEXTS, NUMBERS, TEXTS, NUMBERS]
    assert assign_roles(facts, None) == Roles(0, (1, 3), (2,))


def test_two_columns_of_repeated_text_and_one_of_numbers_are_a_long_table():
    assert assign_roles([REPEATED, REPEATED, NUMBERS], None).long == (0, 1, 2)


def test_notes_about_columns():
    assert Roles(0, (2, 3), (1,)).notes(("gene", "about", "liver", "heart")) == [
        'The first column ("gene") holds the row names.',
        'Ignored, because it holds no numbers: "about".',
    ]


def test_detected_columns():
    columns = detect_columns(
        [["gene", "about", "liver"], ["TP53", "tumour", "5"], ["MYC", "", "7"]]
    )
    assert (columns.width, columns.header) == (3, ("gene", "about", "liver"))
    assert (columns.roles, columns.names) == (Roles(0, (2,), (1,)), ("liver",))
