"""Messages about files and cells."""

import pytest

from pyrocco.io import MatrixError
from pyrocco.io.errors import cell_place, read_errors


def test_errors_of_the_system_name_the_file():
    message = r"^counts\.csv: cannot be read: Permission denied$"
    with pytest.raises(MatrixError, match=message), read_errors("counts.csv"):
        raise PermissionError(13, "Permission denied")


def test_places_of_cells_count_from_one():
    place = cell_place(2, 0, "TP53", "liver", line=4)
    assert place == 'row 3 ("TP53", line 4 of the file), column 1 ("liver")'
    assert cell_place(0, 1) == "row 1, column 2"
