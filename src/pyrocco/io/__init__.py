"""Read matrices from files, and write results. Names are imported when they are first used."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyrocco.io.errors import (
        MatrixError as MatrixError,
    )
    from pyrocco.io.errors import (
        MissingExtraError as MissingExtraError,
    )
    from pyrocco.io.errors import (
        ModelFileError as ModelFileError,
    )
    from pyrocco.io.errors import (
        OutputError as OutputError,
    )
    from pyrocco.io.named_matrix import (
        Matrix as Matrix,
    )
    from pyrocco.io.named_matrix import (
        default_names as default_names,
    )
    from pyrocco.io.named_matrix import (
        match_columns as match_columns,
    )
    from pyrocco.io.partitioned import (
        PartitionedMatrix as PartitionedMatrix,
    )
    from pyrocco.io.partitioned import (
        is_partitioned as is_partitioned,
    )
    from pyrocco.io.partitioned import (
        open_partitioned as open_partitioned,
    )
    from pyrocco.io.partitioned import (
        split_rows as split_rows,
    )
    from pyrocco.io.read import (
        read_matrix as read_matrix,
    )
    from pyrocco.io.result_files import (
        RESULT_FORMATS as RESULT_FORMATS,
    )
    from pyrocco.io.result_files import (
        Results as Results,
    )
    from pyrocco.io.result_files import (
        label_table as label_table,
    )
    from pyrocco.io.result_files import (
        means_table as means_table,
    )
    from pyrocco.io.result_files import (
        result_writer as result_writer,
    )
    from pyrocco.io.result_files import (
        row_label_writer as row_label_writer,
    )
    from pyrocco.io.result_files import (
        staged_folder as staged_folder,
    )
    from pyrocco.io.result_files import (
        write_matrix as write_matrix,
    )
    from pyrocco.io.result_files import (
        write_table as write_table,
    )

_MODULES = {
    "MatrixError": "errors",
    "MissingExtraError": "errors",
    "ModelFileError": "errors",
    "OutputError": "errors",
    "Matrix": "named_matrix",
    "default_names": "named_matrix",
    "match_columns": "named_matrix",
    "PartitionedMatrix": "partitioned",
    "is_partitioned": "partitioned",
    "open_partitioned": "partitioned",
    "split_rows": "partitioned",
    "read_matrix": "read",
    "RESULT_FORMATS": "result_files",
    "Results": "result_files",
    "label_table": "result_files",
    "means_table": "result_files",
    "result_writer": "result_files",
    "row_label_writer": "result_files",
    "staged_folder": "result_files",
    "write_matrix": "result_files",
    "write_table": "result_files",
}
# Former names, which work until the next release.
_RENAMED = {
    "Shards": "PartitionedMatrix",
    "is_sharded": "is_partitioned",
    "open_shards": "open_partitioned",
}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list of the same names


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        new = _RENAMED[name]
        message = f"pyrocco.io.{name} is now pyrocco.io.{new}; the old name will be removed"
        warnings.warn(message, FutureWarning, stacklevel=2)
        name = new
    if name not in _MODULES:
        raise AttributeError(f"module 'pyrocco.io' has no attribute {name!r}")
    return getattr(import_module(f"pyrocco.io.{_MODULES[name]}"), name)
