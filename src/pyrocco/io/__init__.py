"""Reading matrices from files and writing results, one small file per format."""

from pyrocco.io.errors import MatrixError, ModelFileError
from pyrocco.io.extras import MissingExtraError
from pyrocco.io.matching import match_columns
from pyrocco.io.matrix import Matrix, default_names
from pyrocco.io.read import read_matrix
from pyrocco.io.results import RESULT_FORMATS, Results, result_writer, write_table
from pyrocco.io.write import OutputError, staged_folder, write_matrix

__all__ = [
    "RESULT_FORMATS",
    "Matrix",
    "MatrixError",
    "MissingExtraError",
    "ModelFileError",
    "OutputError",
    "Results",
    "default_names",
    "match_columns",
    "read_matrix",
    "result_writer",
    "staged_folder",
    "write_matrix",
    "write_table",
]
