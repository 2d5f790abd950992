"""Read a table with texts and numbers as a matrix of encoded columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco.cells.encoded_columns import EncodedColumn
from pyrocco.cells.encoding import Encoded, encode, encode_like
from pyrocco.cells.kinds import Cells, read_kind
from pyrocco.cells.values import has_missing
from pyrocco.cli.input import read_file
from pyrocco.cli.options import EncodeOptions, PrepareOptions, ReadOptions
from pyrocco.cli.progress_bar import CommandProgress
from pyrocco.io import Matrix, MatrixError
from pyrocco.io.annotations import about_set_aside, take_columns
from pyrocco.io.expression_values import LOGARITHMS, values_of
from pyrocco.io.mixed_tables import (
    MixedTable,
    TableHead,
    is_mixed_table,
    look_at_table,
    read_mixed_table,
)
from pyrocco.io.named_matrix import named_matrix
from pyrocco.io.read import FORMATS, table_options
from pyrocco.io.table_options import TableOptions

__all__ = ["EncodedInput", "read_as_encoded", "read_or_encode"]

_WHY = "Many columns hold texts, so all columns were encoded (--no-encode uses the numbers alone)."
_CHOSEN = "Some of the chosen columns hold texts, so all of them were encoded."
_ENCODED = "encoded columns"
_SET_ASIDE = (
    "Columns of texts are not used: --annotate NAME shows them beside the clusters, --encode uses "
    "them as data."
)


@dataclass(frozen=True)
class EncodedInput:
    """The matrix of a command, and how its columns were encoded if they were."""

    matrix: Matrix
    encoding: tuple[EncodedColumn, ...] = ()
    sentence: str = ""  # what was encoded

    @property
    def cells(self) -> Cells:
        """What the cells are, and how a fit prepares them; encoded columns are prepared."""
        if self.encoding:
            return Cells(_ENCODED, (), self.sentence)
        return LOGARITHMS if self.holds_logarithms else read_kind(self.matrix.X)

    @property
    def holds_logarithms(self) -> bool:
        """Whether the values are logarithms of counts, of cells by genes."""
        X = self.matrix.X
        return (
            self.matrix.axis_names == ("cell", "gene")
            and not has_missing(X)
            and values_of(X) == "logarithms"
        )

    @property
    def about(self) -> dict[str, Any]:
        """What the summary of a fit says about the encoding."""
        kinds = {column.name: column.kind for column in self.encoding}
        if not self.encoding:
            return {"encoding": kinds}
        return {"cells": _ENCODED, "preparation": self.sentence, "encoding": kinds}


def read_or_encode(
    path: Path,
    read: ReadOptions,
    options: EncodeOptions,
    prepare: PrepareOptions,
    progress: CommandProgress,
    annotate: Sequence[str] = (),
) -> EncodedInput:
    """Read the matrix in a file; a table with texts and numbers is encoded.

    The columns that `annotate` names are not part of the matrix.
    """
    with progress.stage("reading"):
        data = _read_or_encode(path, read, options, prepare, progress, annotate)
    progress.of_matrix(*data.matrix.shape)
    return data


def _read_or_encode(
    path: Path,
    read: ReadOptions,
    options: EncodeOptions,
    prepare: PrepareOptions,
    progress: CommandProgress,
    annotate: Sequence[str],
) -> EncodedInput:
    is_number_matrix = _asks_for_numbers(read, prepare)
    if options.encode and is_number_matrix:
        raise MatrixError(
            f"{path}: --encode scales the columns of a wide table itself: leave out --transpose, "
            "--layout long, --absent, --layer, --raw, --prepare and the preparations"
        )
    looks = options.encode is not False and not is_number_matrix
    table = table_options(**read.table)
    head = look_at_table(path, table, read.sheet) if looks else None
    if options.encode:
        return _encoded(_existing(head, path), path, table, annotate)
    if head is not None and is_mixed_table(head, table, annotate):
        return _encoded(head, path, table, annotate, _CHOSEN if table.columns else _WHY)
    matrix = read_file(path, read, progress, annotate)
    has_texts = head is not None and head.columns.roles.ignored and not head.columns.roles.long
    return EncodedInput(matrix.noting(_SET_ASIDE) if has_texts and not annotate else matrix)


def read_as_encoded(path: Path, read: ReadOptions, encoding: tuple[EncodedColumn, ...]) -> Matrix:
    """Read a table and encode it as that of an earlier fit."""
    known = [column.name for column in encoding]
    options = table_options(**read.table)
    head = look_at_table(path, options, read.sheet, known)
    if head is None or _asks_for_numbers(read, PrepareOptions()):
        raise MatrixError(
            f"{path}: the model was fitted to a table with texts, whose columns were encoded: "
            f"provide such a table as {_endings()}, without --transpose and --layout long"
        )
    try:
        table = read_mixed_table(head, options, known)
        encoded = encode_like(table.frame, encoding)
    except ValueError as error:
        raise _about_file(path, error) from error
    return _matrix(table, encoded, [encoded.sentence], path)


def _encoded(
    head: TableHead, path: Path, options: TableOptions, annotate: Sequence[str], *why: str
) -> EncodedInput:
    try:
        mixed = read_mixed_table(head, options)
        table, aside = _without_annotations(mixed, annotate, path)
        encoded = encode(table.frame)
    except ValueError as error:
        raise _about_file(path, error) from error
    matrix = _matrix(table, encoded, why, path)
    if aside is not None:
        aside = aside.set_axis(pd.Index(matrix.row_names, dtype=object))
        matrix = replace(matrix, row_annotations=aside).noting(about_set_aside(aside))
    return EncodedInput(matrix, encoded.columns, encoded.sentence)


def _without_annotations(
    table: MixedTable, annotate: Sequence[str], path: Path
) -> tuple[MixedTable, pd.DataFrame | None]:
    """Take the annotations out of a table."""
    if not annotate:
        return table, None
    aside = take_columns(table.frame, annotate, str(path))
    rest = [name for name in table.frame.columns if str(name) not in aside.columns]
    return replace(table, frame=table.frame[rest]), aside


def _about_file(path: Path, error: ValueError) -> MatrixError:
    message = str(error)
    return MatrixError(message if message.startswith(str(path)) else f"{path}: {message}")


def _matrix(table: MixedTable, encoded: Encoded, about: Sequence[str], path: Path) -> Matrix:
    X = np.ascontiguousarray(encoded.X)
    notes = [*table.notes, *about]
    matrix = named_matrix(X, table.row_names, encoded.column_names, notes, str(path))
    return replace(matrix, set_aside=(*table.set_aside, *encoded.left_out))


def _asks_for_numbers(read: ReadOptions, prepare: PrepareOptions) -> bool:
    """Whether options ask for a matrix of numbers."""
    others = (read.transpose, read.layer, read.raw, read.absent)
    return any(others) or read.layout == "long" or prepare.chosen != "auto"


def _existing(head: TableHead | None, path: Path) -> TableHead:
    if head is None:
        raise MatrixError(f"{path}: --encode has no effect on this file, only on {_endings()}")
    return head


def _endings() -> str:
    return " ".join(ending for ending, kind in FORMATS.items() if "layout" in kind.options)
