"""What the cells and columns of a table hold, and what each column is used for."""

import pytest

from pyrocco.io.cell_texts import NumberFormat, cell_problem, column_kind, is_number, to_number
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


@pytest.mark.parametrize(
    ("cell", "decimal", "thousands", "value"),
    [
        ("12.5%", ".", "", 12.5),
        ("12,5 %", ",", "", 12.5),
        ("-$1,234.50", ".", ",", -1234.5),
        ("$-3", ".", "", -3),
        ("1.234,5 €", ",", ".", 1234.5),
    ],
)
def test_signs_of_units(cell, decimal, thousands, value):
    form = NumberFormat(decimal, thousands, "%$€")
    assert is_number(cell, form)
    assert to_number(cell, form) == value
    assert not is_number(cell, NumberFormat(decimal, thousands))


@pytest.mark.parametrize("cell", ["%", "$%", "% of all", "5%5"])
def test_signs_without_a_number(cell):
    assert not is_number(cell, NumberFormat(signs="%$"))


def test_problems_of_cells():
    assert cell_problem("low").startswith('holds the text "low", not a number: correct it')
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


def test_names_in_the_second_column_of_texts():
    """The first one has a group, which is written once or repeated; the second never repeats."""
    genes = ColumnFacts("text", tuple("abcdef"))
    for groups in (("x", "", "", "y", "", ""), ("x", "x", "x", "y", "y", "y")):
        facts = [ColumnFacts("text", groups), genes, NUMBERS, NUMBERS]
        roles = assign_roles(facts, ("group", "gene", "liver", "lung"))
        assert (roles.index, roles.has_rivals) == (1, True)
        assert assign_roles(facts, ("gene", "comment", "liver", "lung")).index == 0
        dates = ColumnFacts("text", tuple(f"2024-01-0{day}" for day in range(1, 7)))
        assert assign_roles([facts[0], dates, NUMBERS, NUMBERS], None).index == 0
    few_repeat = ColumnFacts("text", ("MYC", "TP53", "MYC", "EGFR", "KRAS", "CD4"))
    assert assign_roles([few_repeat, genes, NUMBERS, NUMBERS], None).index == 0


def test_the_first_column_of_text_holds_the_row_names():
    facts = [TEXTS, NUMBERS, TEXTS, NUMBERS]
    assert assign_roles(facts, None) == Roles(0, (1, 3), (2,), has_rivals=True)


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
    assert columns.roles == Roles(0, (2,), (1,), has_rivals=True)
    assert columns.names == ("liver",)
