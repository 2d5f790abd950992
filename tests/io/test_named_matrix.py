"""Matrices with names and annotations."""

import numpy as np
import pandas as pd

from pyrocco.io import Matrix, match_columns

ROWS = pd.DataFrame({"age": [31.5, 40.0]}, index=["a", "b"])
COLUMNS = pd.DataFrame({"unit": ["kg", "cm", "kg"]}, index=["x", "y", "z"])
MATRIX = Matrix(np.arange(6.0).reshape(2, 3), ("a", "b"), ("x", "y", "z"), (), ROWS, COLUMNS)


def test_annotations_are_transposed():
    transposed = MATRIX.transpose()
    assert transposed.row_annotations is COLUMNS
    assert transposed.column_annotations is ROWS


def test_annotations_of_columns_are_selected_with_them():
    selected = match_columns(MATRIX, ["z", "y"], "new.csv", "column")
    assert selected.column_annotations["unit"].to_dict() == {"z": "kg", "y": "cm"}
    assert selected.row_annotations is ROWS
