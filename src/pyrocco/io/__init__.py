"""Read matrices from files, and write results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyrocco.deprecation import warn_deprecated

if TYPE_CHECKING:
    from pyrocco.io.errors import MatrixError, MissingExtraError, ModelFileError, OutputError
    from pyrocco.io.named_matrix import Matrix, default_names, match_columns
    from pyrocco.io.partitioned import (
        PartitionedMatrix,
        is_partitioned,
        open_partitioned,
        split_rows,
    )
    from pyrocco.io.read import read_matrix
    from pyrocco.io.result_files import (
        RESULT_FORMATS,
        Results,
        label_table,
        means_table,
        result_writer,
        row_label_writer,
        write_matrix,
        write_table,
    )
    from pyrocco.io.result_folder import staged_folder

__all__ = [
    "RESULT_FORMATS",
    "Matrix",
    "MatrixError",
    "MissingExtraError",
    "ModelFileError",
    "OutputError",
    "PartitionedMatrix",
    "Results",
    "default_names",
    "is_partitioned",
    "label_table",
    "match_columns",
    "means_table",
    "open_partitioned",
    "read_matrix",
    "result_writer",
    "row_label_writer",
    "split_rows",
    "staged_folder",
    "write_matrix",
    "write_table",
]

# Imported in this order until one has the name, so that the errors need no other library.
_MODULES = ("errors", "named_matrix", "read", "partitioned", "result_folder", "result_files")
# Former names.
_RENAMED = {
    "Shards": "PartitionedMatrix",
    "is_sharded": "is_partitioned",
    "open_shards": "open_partitioned",
}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        new = _RENAMED[name]
        warn_deprecated(f"pyrocco.io.{name}", f"pyrocco.io.{new}", since="0.2")
        name = new
    if name in __all__:
        for module in map(import_module, (f"pyrocco.io.{module}" for module in _MODULES)):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module 'pyrocco.io' has no attribute {name!r}")
