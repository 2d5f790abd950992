"""The one home of pyarrow, and text files of gigabytes read with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.io.cells import MISSING
from pyrocco.io.extras import MissingExtraError, extra
from pyrocco.io.layout import Layout, is_compressed
from pyrocco.io.request import Watch
from pyrocco.io.table import Loaded
from pyrocco.io.watched import open_watched

__all__ = [
    "can_read",
    "import_arrow",
    "is_installed",
    "load_text",
    "numbers_of",
]

# Hundreds of lines of a table with 20,000 columns.
_BLOCK = 32 << 20


def is_installed() -> bool:
    """Whether pyarrow is there to be used.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_installed() in (True, False)
    True
    """
    try:
        import_arrow()
    except MissingExtraError:
        return False
    return True


def import_arrow(what: str = "Parquet files") -> Any:
    """Import pyarrow, or say how to get it.

    Parameters
    ----------
    what : str
        What needs it.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        It is not installed.

    Examples
    --------
    >>> import_arrow().__name__
    'pyarrow'
    """
    with extra("arrow", what):
        import pyarrow  # noqa: PLC0415 - the one home of an optional package
        import pyarrow.csv  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415
    return pyarrow


def can_read(layout: Layout) -> bool:
    """Whether pyarrow reads text of this kind as pandas does.

    Parameters
    ----------
    layout : Layout
        What was detected.

    Returns
    -------
    bool

    Examples
    --------
    >>> from pyrocco.io.columns import detect_columns
    >>> columns = detect_columns([["1", "2"], ["3", "4"]])
    >>> [can_read(Layout(",", ".", code, columns)) for code in ("utf-8-sig", "utf-16")]
    [True, False]
    """
    return layout.encoding == "utf-8-sig"


def load_text(path: Path, layout: Layout, watch: Watch | None) -> Loaded | None:
    r"""Read the columns of a text file, in blocks and on all cores.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout
        What was detected.
    watch : callable or None
        Told how far reading has come.

    Returns
    -------
    Loaded or None
        None where anything is wrong with the file: another reader says what.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.io.layout import detect_layout
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("1,2\n3,NA\n")
    ...     load_text(path, detect_layout(path), None).X.tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    pa = import_arrow("Large text files")
    csv = pa.csv
    roles = layout.columns.roles
    names = [str(position) for position in range(layout.columns.width)]
    wanted = [names[position] for position in (*roles.text_columns, *roles.number_columns)]
    types = dict.fromkeys(wanted, pa.dictionary(pa.int32(), pa.string()))
    types |= {names[position]: pa.float64() for position in roles.number_columns}
    reading = csv.ReadOptions(
        column_names=names,
        skip_rows=layout.skip + (layout.columns.header is not None),
        block_size=_BLOCK,
    )
    parsing = csv.ParseOptions(delimiter=layout.delimiter)
    converting = csv.ConvertOptions(
        column_types=types,
        include_columns=wanted,
        null_values=list(MISSING),
        strings_can_be_null=False,
        decimal_point=layout.decimal,
    )
    try:
        with open_watched(path, watch) as file:
            stream = pa.PythonFile(file, mode="r")
            if is_compressed(path):
                stream = pa.CompressedInputStream(stream, "gzip")
            table = csv.open_csv(stream, reading, parsing, converting).read_all()
    except (pa.ArrowInvalid, OSError):
        return None
    return _gather(table, len(roles.text_columns))


def _gather(table: Any, n_texts: int) -> Loaded:
    """Columns of names first, then the numbers as one array."""
    texts = [
        column.unify_dictionaries().to_pandas().astype("category")
        for column in table.columns[:n_texts]
    ]
    return Loaded(texts, numbers_of(table.columns[n_texts:], table.num_rows))


def numbers_of(columns: Sequence[Any], n_rows: int, dtype: Any = float) -> NDArray[Any]:
    """Columns of an Arrow table as one array.

    Parameters
    ----------
    columns : sequence of ChunkedArray
        Columns of numbers.
    n_rows : int
        How many cells each has.
    dtype : dtype, default=float
        Of the array.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Missing cells are NaN.

    Examples
    --------
    >>> numbers_of(import_arrow().table({"a": [1, None]}).columns, 2).tolist()
    [[1.0], [nan]]
    """
    X = np.empty((n_rows, len(columns)), dtype=dtype)
    for j, column in enumerate(columns):
        X[:, j] = column.cast("float64").to_numpy()
    return X
