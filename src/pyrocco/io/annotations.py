"""Annotations of rows and columns: from the file of a matrix, or from a table of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco.io.anndata import read_h5ad_annotations
from pyrocco.io.errors import MatrixError, list_some
from pyrocco.io.fields import DictOf, Fields, Floats, Indices, Sizes, Text, Texts
from pyrocco.io.mixed_tables import TableHead, look_at_table
from pyrocco.io.named_matrix import Matrix, about_size
from pyrocco.io.read import file_format
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions
from pyrocco.texts import counted, plain_text

__all__ = [
    "StoredAnnotations",
    "about_set_aside",
    "annotate_from",
    "as_annotations",
    "chosen_names",
    "set_aside",
    "stored_annotations",
    "take_columns",
    "unstored_annotations",
]

_FROM = "name a table of annotations with --annotate-from"


def chosen_names(given: Sequence[str], known: Iterable[str], source: str) -> list[str]:
    """Return the names of columns that an option lists, each of which must be known.

    Parameters
    ----------
    given : sequence of str
        A name each, or several with commas between them.
    known : iterable of str
        Names of the columns that there are.
    source : str
        Name of the file, for messages.

    Returns
    -------
    list of str

    Examples
    --------
    >>> chosen_names(["age,dose, mg", "dose, mg"], ["age", "dose, mg", "dose", "mg"], "a.csv")
    ['age', 'dose', 'mg', 'dose, mg']
    """
    known = list(known)
    names = []
    for text in given:
        parts = [text] if text in known else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            rest = f'did you mean "{near[0]}"?' if near else f"it has {list_some(known)}"
            raise MatrixError(
                f'{source}: has no column "{name}" to annotate the rows with; {rest}'
            )
    return list(dict.fromkeys(names))


def set_aside(
    matrix: Matrix,
    path: Path,
    given: Sequence[str],
    options: TableOptions = TABLE_OPTIONS,
    sheet: str | int | None = None,
) -> Matrix:
    """Make annotations of some columns of the file of a matrix, which are then not part of it.

    Parameters
    ----------
    matrix : Matrix
        The matrix, as it was read from the file.
    path : Path
        The file. Of an .h5ad file, columns of ``obs`` annotate the rows (cells) and columns of
        ``var`` the columns (genes).
    given : sequence of str
        Names of columns, see `chosen_names`.
    options : TableOptions, optional
        How the table was read.
    sheet : str or int, optional
        The sheet of an Excel file.

    Returns
    -------
    Matrix
        With annotations and a note.
    """
    if path.suffix.lower() == ".h5ad":
        return _annotated_h5ad(matrix, path, given)
    head = look_at_table(path, options, sheet) if "layout" in file_format(path).options else None
    if head is None:
        raise MatrixError(f"{path}: has no columns that --annotate could use: {_FROM}")
    if head.columns.roles.long:
        raise MatrixError(f"{path}: --annotate has no effect on a long table: {_FROM}")
    found = take_columns(head.load(), given, str(path))
    if len(found) != matrix.shape[0]:
        raise MatrixError(f"{path}: --annotate cannot match its columns to the rows: {_FROM}")
    return _without(_noted_anew(matrix, head, found.columns), found, str(path))


def take_columns(frame: pd.DataFrame, given: Sequence[str], source: str) -> pd.DataFrame:
    """Return the columns of a table that an option lists, as annotations."""
    names = chosen_names(given, (str(name) for name in frame.columns), source)
    return as_annotations(frame.set_axis([str(name) for name in frame.columns], axis=1)[names])


def _noted_anew(matrix: Matrix, head: TableHead, aside: Collection[str]) -> Matrix:
    """Do not say of columns of texts that they are ignored if they are annotations."""
    columns = head.columns
    names = columns.header or ()
    kept = tuple(j for j in columns.roles.ignored if j >= len(names) or names[j] not in aside)
    before, now = (
        head.notes(each)
        for each in (columns, replace(columns, roles=replace(columns.roles, ignored=kept)))
    )
    rest = [note for note in matrix.notes if note not in before]
    return replace(matrix, notes=(*now, *rest))


def _without(matrix: Matrix, found: pd.DataFrame, source: str) -> Matrix:
    """Take columns of numbers out of a matrix, and note what annotates its rows."""
    kept = [j for j, name in enumerate(matrix.column_names) if name not in found.columns]
    if not kept:
        raise MatrixError(f"{source}: the annotations leave no columns of numbers for the matrix")
    X = matrix.X if len(kept) == matrix.shape[1] else matrix.X[:, kept]
    size = about_size(matrix)
    rest = replace(
        matrix,
        X=np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X,
        column_names=tuple(matrix.column_names[j] for j in kept),
        notes=tuple(note for note in matrix.notes if note not in size),
        row_annotations=found.set_axis(_index(matrix.row_names)),
    )
    return rest.noting(about_set_aside(found), *about_size(rest))


def about_set_aside(found: pd.DataFrame) -> str:
    """Say which columns are annotations.

    Examples
    --------
    >>> about_set_aside(pd.DataFrame({"age": [30.0]}))
    'Set aside: "age" annotates the rows and is not part of the matrix.'
    """
    names = list_some([f'"{name}"' for name in found.columns])
    verb, them = ("annotates", "is") if found.shape[1] == 1 else ("annotate", "are")
    return f"Set aside: {names} {verb} the rows and {them} not part of the matrix."


def _annotated_h5ad(matrix: Matrix, path: Path, given: Sequence[str]) -> Matrix:
    wanted = [*given, *(part.strip() for text in given for part in text.split(","))]
    *tables, known = read_h5ad_annotations(path, wanted)
    names = chosen_names(given, known, str(path))
    sides = (matrix.row_names, matrix.column_names)
    found = [
        _of_side(table[[name for name in names if name in table.columns]], side)
        for table, side in zip(tables, sides, strict=True)
    ]
    return replace(matrix, row_annotations=found[0], column_annotations=found[1])


def _of_side(table: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame | None:
    """Return the annotations of one side; None if there are none, as for the genes of raw."""
    if not table.shape[1] or len(table) != len(names):
        return None
    return as_annotations(table).set_axis(_index(names))


@dataclass(frozen=True)
class _Match:
    """Which rows of a table belong to the rows (or columns) of a matrix."""

    side: str  # "row" or "column"
    key: str | None  # column of names; None for the names of the rows of the table
    positions: pd.Series[Any]  # of the table, for each name of the matrix; NaN if it has none
    unused: int

    @property
    def n_found(self) -> int:
        """Number of rows that the table knows."""
        return int(self.positions.notna().sum())


def annotate_from(matrix: Matrix, path: Path) -> Matrix:
    """Annotate the rows, or the columns, of a matrix with a table that has their names.

    Parameters
    ----------
    matrix : Matrix
        The matrix.
    path : Path
        A text table, Excel or Parquet file. One of its columns holds names of rows, or of
        columns, of the matrix: the one, and the side, with most of them.

    Returns
    -------
    Matrix
        With annotations, and a note that says how many names were found.
    """
    head = look_at_table(path)
    if head is None:
        raise MatrixError(f"{path}: --annotate-from needs a text table, Excel or Parquet file")
    frame, names = _table_and_names(head, path)
    match = _best_match(frame, names, matrix, path)
    table = as_annotations(frame[_named_columns(frame, head, match.key)])
    if not table.shape[1]:
        raise MatrixError(
            f"{path}: has no columns besides the names, so there is nothing to annotate with"
        )
    found = table.reindex(match.positions.to_numpy()).set_axis(match.positions.index)
    of_side = {"row": matrix.row_annotations, "column": matrix.column_annotations}[match.side]
    joined = _joined(of_side, found, path)
    part = {"row_annotations" if match.side == "row" else "column_annotations": joined}
    return replace(matrix, **part).noting(_about_match(matrix, match, found, path))  # type: ignore[arg-type]


def _table_and_names(head: TableHead, path: Path) -> tuple[pd.DataFrame, list[str] | None]:
    """Return all columns of a table, and its index if it has one."""
    frame = head.load()
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise MatrixError(f'{path}: several columns are called "{repeated[0]}": rename them')
    has_index = not isinstance(frame.index, pd.RangeIndex)
    names = [str(name) for name in frame.index] if has_index else None
    return frame.reset_index(drop=True), names


def _named_columns(frame: pd.DataFrame, head: TableHead, key: str | None) -> list[Any]:
    """Return the columns beside the names; one without heading only counts the lines."""
    header = head.columns.header or ()
    unnamed = {frame.columns[j] for j, name in enumerate(header) if not name and key is not None}
    return [name for name in frame.columns if str(name) != key and name not in unnamed]


def _best_match(
    frame: pd.DataFrame, names: list[str] | None, matrix: Matrix, path: Path
) -> _Match:
    """Find the column of names, and the side of the matrix, that agree best."""
    keys: dict[str | None, list[str]] = {} if names is None else {None: names}
    keys |= {str(name): _texts(frame[name]) for name in frame.columns}
    sides = {"row": matrix.row_names, "column": matrix.column_names}
    shared = {
        (side, key): len(set(own) & set(texts))
        for key, texts in keys.items()
        for side, own in sides.items()
    }
    side, key = max(shared, key=lambda each: shared[each])
    if not shared[side, key]:
        first = next(iter(keys.values()))[:1]
        raise MatrixError(
            f"{path}: none of its names is a row or a column of the matrix: it begins with "
            f'"{first[0] if first else ""}", the rows with "{matrix.row_names[0]}", the columns '
            f'with "{matrix.column_names[0]}"'
        )
    places = pd.Series(range(len(frame)), index=keys[key])
    wanted = set(sides[side])
    twice = places.index[places.index.duplicated() & places.index.isin(wanted)]
    if len(twice):
        raise MatrixError(f'{path}: has several lines for "{twice[0]}": keep one of them')
    own = _index(sides[side])
    return _Match(side, key, places.reindex(own), int((~places.index.isin(wanted)).sum()))


def _texts(column: pd.Series[Any]) -> list[str]:
    """Return a column as names, as they are written: whole numbers without a decimal point."""
    return [plain_text(value).strip() for value in column]


def _joined(given: pd.DataFrame | None, found: pd.DataFrame, path: Path) -> pd.DataFrame:
    if given is None:
        return found
    both = [str(name) for name in found.columns if name in given.columns]
    if both:
        raise MatrixError(f'{path}: there are two annotations called "{both[0]}": rename one')
    return pd.concat([given, found], axis=1)


def _about_match(matrix: Matrix, match: _Match, found: pd.DataFrame, path: Path) -> str:
    noun = matrix.axis_names[match.side == "column"]
    n = matrix.shape[match.side == "column"]
    names = list_some([f'"{name}"' for name in found.columns])
    verb = "annotates" if found.shape[1] == 1 else "annotate"
    about = f"{path.name}: {names} {verb} {match.n_found} of the {counted(n, noun)}"
    if not match.unused:
        return f"{about}."
    lines = counted(match.unused, "line")
    return (
        f"{about}; {lines} with names that are not in the matrix {_were(match.unused)} left out."
    )


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def as_annotations(table: pd.DataFrame) -> pd.DataFrame:
    """Return annotations as floats, or as texts with None for missing values.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [31, 40], "smoker": [True, None]})
    >>> as_annotations(table).to_dict("list")
    {'age': [31.0, 40.0], 'smoker': ['True', None]}
    """
    return pd.DataFrame(
        {str(name): _plain_column(table[name]) for name in table.columns}, index=table.index
    )


def _plain_column(column: pd.Series[Any]) -> pd.Series[Any]:
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if is_number:
        return column.astype("Float64").astype(float)
    texts = [None if pd.isna(value) else plain_text(value) for value in column]
    return pd.Series(texts, column.index, dtype=object, name=column.name)


@dataclass(frozen=True)
class StoredAnnotations:
    """Declares what `stored_annotations` returns; `size` names the number of rows or columns."""

    size: str

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check every annotation."""
        DictOf(Text(), _StoredColumn(self.size)).check(value, sizes, place)


@dataclass(frozen=True)
class _StoredColumn:
    """Declares one annotation: numbers, or categories and the names of these."""

    size: str

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type, length and range."""
        if not isinstance(value, dict):
            Floats(self.size).check(value, sizes, place)
            return
        codes = Indices(self.size, below="categories", least=-1)
        Fields(names=Texts("categories"), codes=codes).check(value, dict(sizes), place)


def stored_annotations(table: pd.DataFrame | None) -> dict[str, Any]:
    """Return annotations as a model file can hold them; see `unstored_annotations`."""
    return {} if table is None else {str(name): _stored(table[name]) for name in table.columns}


def _stored(column: pd.Series[Any]) -> Any:
    if column.dtype == float:
        return column.to_numpy()
    codes, names = pd.factorize(column, sort=True)
    return {"codes": codes.astype(np.int64), "names": tuple(str(name) for name in names)}


def unstored_annotations(stored: Mapping[str, Any], index: Sequence[str]) -> pd.DataFrame | None:
    """Return what `stored_annotations` stored; None if there are none.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [31.5, 40.0], "group": ["b", None]}, index=["x", "y"])
    >>> unstored_annotations(stored_annotations(table), ["x", "y"]).to_dict("list")
    {'age': [31.5, 40.0], 'group': ['b', None]}
    """
    rows = _index(index)
    columns = {name: _unstored(column, rows) for name, column in stored.items()}
    return pd.DataFrame(columns, rows) if columns else None


def _index(names: Sequence[str]) -> pd.Index[Any]:
    index: pd.Index[Any] = pd.Index(np.array(names, dtype=object))
    return index


def _unstored(column: Any, index: pd.Index[Any]) -> pd.Series[Any]:
    if isinstance(column, np.ndarray):
        return pd.Series(column, index)
    names = np.array([*column["names"], None], dtype=object)
    return pd.Series(names[column["codes"]], index, dtype=object)
