"""What the cells and columns of a table hold, and what each column is used for."""

import pytest

from pyrocco.io.columns import (
    Roles,
    assign_roles,
    cell_problem,
    column_kind,
    detect_columns,
    is_number,
)


@pytest.mark.parametrize(
    ("cell", "decimal", "expected"),
    [("1,5", ",", True), ("1,5", ".", False), ("-2e3", ".", True), ("nan", ".", False)],
)
def test_numbers(cell, decimal, expected):
    assert is_number(cell, decimal) is expected


def test_problems_of_cells():
    assert cell_problem("low") == 'holds the text "low", not a number'
    assert cell_problem("NA") == ""
    assert cell_problem("1,234") == 'holds "1,234": write numbers without thousands separators'


@pytest.mark.parametrize(
    ("cells", "kind"),
    [(["1", "NA", "high"], "number"), (["kinase", "-"], "text"), (["", ""], "empty")],
)
def test_kinds_of_columns(cells, kind):
    assert column_kind(cells) == kind


def test_the_first_column_of_text_holds_the_row_names():
    kinds = ["text", "number", "text", "number"]
    assert assign_roles(kinds, None, [False] * 4) == Roles(0, (1, 3), (2,))


def test_two_columns_of_repeated_text_and_one_of_numbers_are_a_long_table():
    assert assign_roles(["text", "text", "number"], None, [True] * 3).long == (0, 1, 2)


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
