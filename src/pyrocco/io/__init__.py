"""Reading matrices from files and writing results, one small file per format."""

from pyrocco.io.matrix import Matrix, MatrixError, default_names
from pyrocco.io.read import read_matrix
from pyrocco.io.write import (
    OutputError,
    staged_folder,
    write_block_means,
    write_labels,
    write_matrix,
)

__all__ = [
    "Matrix",
    "MatrixError",
    "OutputError",
    "default_names",
    "read_matrix",
    "staged_folder",
    "write_block_means",
    "write_labels",
    "write_matrix",
]
