"""Reading matrices from files and writing results, one small file per format."""

from pyrocco.io.errors import MatrixError, ModelFileError
from pyrocco.io.extras import MissingExtraError
from pyrocco.io.finding import is_sharded
from pyrocco.io.matching import match_columns
from pyrocco.io.matrix import Matrix, default_names
from pyrocco.io.read import read_matrix
from pyrocco.io.results import RESULT_FORMATS, Results, means_table, result_writer, write_table
from pyrocco.io.row_labels import label_table, row_label_writer
from pyrocco.io.shards import Shards, open_shards, split_rows
from pyrocco.io.write import OutputError, staged_folder, write_matrix

__all__ = [
    "RESULT_FORMATS",
    "Matrix",
    "MatrixError",
    "MissingExtraError",
    "ModelFileError",
    "OutputError",
    "Results",
    "Shards",
    "default_names",
    "is_sharded",
    "label_table",
    "match_columns",
    "means_table",
    "open_shards",
    "read_matrix",
    "result_writer",
    "row_label_writer",
    "split_rows",
    "staged_folder",
    "write_matrix",
    "write_table",
]
