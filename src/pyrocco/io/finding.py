"""Finding the parts of a matrix: the files that match a pattern, or the chunks of a Zarr store."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from pyrocco.io.errors import MatrixError
from pyrocco.io.parquet_parts import parquet_parts
from pyrocco.io.parts import Parts
from pyrocco.io.text_parts import text_parts
from pyrocco.io.zarr_parts import zarr_parts

__all__ = ["find_parts", "is_sharded"]

_TEXT = re.compile(r"\.(csv|tsv|txt)(\.gz)?$")
_READERS = {"parquet": parquet_parts, "text": text_parts}


def is_sharded(path: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a matrix in parts: a pattern of file names, or a Zarr store.

    Parameters
    ----------
    path : str or path
        What the user wrote.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_sharded("data/*.parquet"), is_sharded("counts.zarr"), is_sharded("counts.csv")
    (True, True, False)
    """
    # A file may have brackets in its name.
    is_pattern = glob.has_magic(str(path)) and not Path(path).exists()
    return is_pattern or Path(path).suffix.lower() == ".zarr"


def find_parts(path: Path) -> Parts:
    r"""Find the parts of a matrix, and see that they fit together.

    Parameters
    ----------
    path : Path
        A pattern of file names, or a Zarr store.

    Returns
    -------
    Parts

    Raises
    ------
    MatrixError
        No file matches, or the files do not fit together.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("part-10", "part-2"):
    ...         _ = (Path(folder) / f"{part}.csv").write_text("liver,heart\n1,2\n")
    ...     parts = find_parts(Path(folder) / "*.csv")
    >>> [Path(file).name for file, n_rows in parts.places]
    ['part-2.csv', 'part-10.csv']
    """
    if path.suffix.lower() == ".zarr" and not glob.has_magic(str(path)):
        if not path.exists():
            raise MatrixError(f"{path}: there is no such Zarr store")
        return zarr_parts(path)
    paths = _matching(path)
    _check_one_kind(paths)
    return _READERS[_kind(paths[0])](paths)


def _matching(pattern: Path) -> list[Path]:
    paths = [Path(name) for name in glob.glob(str(pattern), recursive=True)]
    files = sorted((path for path in paths if path.is_file()), key=_natural)
    if not files:
        raise MatrixError(
            f"{pattern}: no file matches this pattern (put it in quotation marks, so that the "
            "shell leaves it as it is)"
        )
    return files


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Numbers in names count as numbers: part-2 comes before part-10."""
    pieces = re.findall(r"\d+|\D+", str(path))
    return [(0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces]


def _check_one_kind(paths: Sequence[Path]) -> None:
    first = paths[0]
    other = next((path for path in paths if _kind(path) != _kind(first)), None)
    if other is not None:
        raise MatrixError(
            f"the pattern matches files of different kinds, {first} and {other}: name one kind, "
            "such as 'data/*.parquet'"
        )


def _kind(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(".parquet"):
        return "parquet"
    if _TEXT.search(name):
        return "text"
    raise MatrixError(
        f"{path}: only .parquet, .csv, .tsv and .txt files (the last three may end in .gz) can "
        "be parts of a matrix"
    )
