"""The folder of results of a fit: what may be replaced in it, and how.

Files are collected in a hidden folder and moved when all are complete. Nothing is replaced or
removed that pyrocco did not write, and never an input.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pyrocco.io.errors import OutputError
from pyrocco.io.unfinished import claimed_stage, write_errors

__all__ = [
    "ANNOTATION_TABLES",
    "CHECKPOINT_FILE",
    "EXPLANATION",
    "MATRIX_FILE",
    "MODEL_FILE",
    "PICTURE_FORMATS",
    "REPORT_FILE",
    "RESULT_NAMES",
    "ROW_LABELS",
    "SUMMARY_FILE",
    "EarlierResults",
    "check_not_input",
    "check_replaceable",
    "default_folder",
    "earlier_results",
    "moved_when_complete",
    "names_in_format",
    "picture_files",
    "staged_folder",
]

CHECKPOINT_FILE = "checkpoint.pyrocco"
MATRIX_FILE = "matrix.csv"
MODEL_FILE = "model.pyrocco"
PICTURE = "heatmap"
# Formats of the picture, by the endings of its files.
PICTURE_FORMATS = ("png", "pdf", "svg")
REPORT_FILE = "report.html"
SUMMARY_FILE = "summary.json"
ROW_LABELS = "row_labels"
EXPLANATION = "explanation"
_TABLES = (ROW_LABELS, "column_labels", "block_means", EXPLANATION)

_TABLE_FILES = {
    "csv": [f"{table}.csv" for table in _TABLES],
    "parquet": [f"{table}.parquet" for table in _TABLES],
    "h5ad": ["clusters.h5ad", f"{EXPLANATION}.csv"],
}
# The tests of association of clusters and annotations, and the tables behind them.
ANNOTATION_TABLES = ("annotations", "cross_tables")
_ANNOTATION_FILES = [f"{name}.{end}" for name in ANNOTATION_TABLES for end in ("csv", "parquet")]
_OTHER_FILES = (MODEL_FILE, REPORT_FILE, SUMMARY_FILE)


def picture_files(formats: Iterable[str]) -> list[str]:
    """Return the names of the files of the picture."""
    return [f"{PICTURE}.{ending}" for ending in formats]


# All names that results can have. Nothing else is ever replaced or removed.
RESULT_NAMES = frozenset(
    (
        *chain(*_TABLE_FILES.values()),
        *_ANNOTATION_FILES,
        *_OTHER_FILES,
        *picture_files(PICTURE_FORMATS),
        MATRIX_FILE,
    )
)


def names_in_format(
    ending: str, pictures: Iterable[str] = PICTURE_FORMATS[:1], annotated: bool = False
) -> list[str]:
    """Return the names of the files that a fit may write.

    `ending` is the format of the tables, and `pictures` are those of the picture. `annotated`
    says whether there are annotations.
    """
    # Very many row labels are written as Parquet in any case.
    tables = [*_TABLE_FILES[ending], f"{ROW_LABELS}.parquet"]
    aside = _ANNOTATION_FILES if annotated else []
    return [*tables, *aside, *picture_files(pictures), *_OTHER_FILES]


def default_folder(source: Path) -> Path:
    """Return the folder for the results of an input: in the current one, named after the input.

    Examples
    --------
    >>> for source in ("data/counts.csv.gz", "parts/*.parquet", "big.zarr"):
    ...     print(default_folder(Path(source)))
    counts-pyrocco
    parts-pyrocco
    big-pyrocco
    """
    while glob.has_magic(source.name):
        source = source.parent
    name = Path((source.name or source.resolve().name).strip("."))
    unpacked = name.with_suffix("") if name.suffix == ".gz" else name
    return Path(f"{unpacked.stem or 'matrix'}-pyrocco")


# Files in a folder of row labels.
_PART = re.compile(r"part-\d{4,}\.parquet")
_LARGEST_SUMMARY = 64 << 20


@dataclass(frozen=True)
class EarlierResults:
    """Results of an earlier fit: its input, and the names of its files."""

    input: str
    files: frozenset[str] = frozenset()


def earlier_results(folder: Path) -> EarlierResults | None:
    """Return the results that the summary in a folder lists; None if there is no summary of ours.

    Only names that results can have are returned, whatever the summary says.
    """
    path = folder / SUMMARY_FILE
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_SUMMARY:
            return None
        summary = json.loads(path.read_text(encoding="utf-8"))
        if "pyrocco" not in summary["versions"]:
            return None
        files = frozenset(name for name in summary["files"] if name in RESULT_NAMES)
        return EarlierResults(str(summary["input"]), files)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def check_not_input(path: Path, inputs: Iterable[Path]) -> None:
    """Raise an `OutputError` if writing to a path would overwrite an input."""
    for given in inputs:
        if _is_same(path, given):
            raise OutputError(
                f"{path}: is an input of this command, and would be overwritten: choose another "
                "name or folder for the results"
            )


def check_replaceable(
    folder: Path,
    names: Iterable[str],
    *,
    source: str,
    inputs: Iterable[Path] = (),
    force: bool = False,
) -> None:
    """Raise an `OutputError` unless results may be written to a folder.

    Parameters
    ----------
    folder : Path
        The folder; it need not exist.
    names : iterable of str
        Names of the files that may be written.
    source : str
        The input of the fit. Results of an earlier fit of the same input may be replaced.
    inputs : iterable of Path
        Files that are read, which are never replaced.
    force : bool
        Whether to replace other files with these names, too; folders are not replaced.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file, not a folder to write results to")
    inputs = list(inputs)
    earlier = earlier_results(folder)
    for path in (folder / name for name in sorted(names)):
        if not os.path.lexists(path):
            continue
        check_not_input(path, inputs)
        is_ours = earlier is not None and path.name in earlier.files
        if not _is_plain(path, is_ours):
            raise OutputError(
                f"{path}: is in the way, and was not written by pyrocco: move it, or choose "
                "another folder for the results"
            )
        if force:
            continue
        if earlier is None or not is_ours:
            raise OutputError(
                f"{path}: exists already, and there is no sign that pyrocco wrote it: choose "
                "another folder, or replace it with --force"
            )
        if earlier.input != source and not _is_same(Path(earlier.input), Path(source)):
            raise OutputError(
                f"{folder}: contains the results of a fit of {earlier.input}: choose another "
                "folder, or replace them with --force"
            )


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return path.absolute() == other.absolute()


def _is_plain(path: Path, is_ours: bool) -> bool:
    """Whether a path is a file, or a folder that holds only parts of row labels."""
    if path.is_symlink() or path.is_file():
        return True
    parts = list(path.iterdir()) if is_ours and path.is_dir() else []
    return bool(parts) and all(_PART.fullmatch(part.name) and part.is_file() for part in parts)


@contextmanager
def staged_folder(folder: str | os.PathLike[str], inputs: Iterable[Path] = ()) -> Iterator[Path]:
    """Collect files in a hidden folder and move them to `folder` when all are complete.

    If `folder` cannot be written to, or another process is writing results to it, entering the
    block fails, before any work is done. After an exception the files are deleted and the content
    of `folder` stays as it was. Results of an earlier fit that are not written again are removed,
    unless they are among the `inputs`.
    """
    with claimed_stage(Path(folder)) as stage, moved_when_complete(stage, Path(folder), inputs):
        yield stage


@contextmanager
def moved_when_complete(stage: Path, folder: Path, inputs: Iterable[Path] = ()) -> Iterator[None]:
    """Move the files of a stage to a folder when the block ends normally, see `staged_folder`.

    Messages about a file name the place where it was meant to be in the end.
    """
    try:
        yield
    except OutputError as error:
        raise OutputError(str(error).replace(str(stage), str(folder))) from error
    earlier = earlier_results(folder) or EarlierResults("")
    written = _move_all(stage, folder, earlier.files)
    if SUMMARY_FILE not in written:
        return
    inputs = list(inputs)
    for path in (folder / name for name in earlier.files - written):
        if not any(_is_same(path, given) for given in inputs):
            _remove(path, is_ours=True)


def _move_all(stage: Path, folder: Path, earlier: frozenset[str]) -> set[str]:
    # The summary first: it lists the others, so that they are recognised if the program is killed.
    paths = sorted(stage.iterdir(), key=lambda path: (path.name != SUMMARY_FILE, path.name))
    for path in paths:
        target = folder / path.name
        with write_errors(target):
            if target.is_dir() or path.is_dir():
                _remove(target, path.name in earlier)
            path.replace(target)
    return {path.name for path in paths}


def _remove(path: Path, is_ours: bool) -> None:
    """Remove a result of an earlier fit, if it still is one."""
    if not os.path.lexists(path):
        return
    if not _is_plain(path, is_ours):
        raise OutputError(f"{path}: is in the way, and was not written by pyrocco: move it")
    if path.is_dir() and not path.is_symlink():
        for part in path.iterdir():
            part.unlink()
        path.rmdir()
    else:
        path.unlink()
