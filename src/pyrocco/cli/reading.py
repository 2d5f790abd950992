"""Options about the file, and reading it with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from pyrocco.cli.messages import warnings_as_lines
from pyrocco.cli.progress import reading_bar
from pyrocco.io import Matrix, read_matrix

__all__ = ["LargeMatrixPath", "MatrixPath", "Reading"]

_PANEL = "Reading the file"

_FILES = (
    "CSV, TSV, Excel, Parquet, .h5ad, .npz, .npy or .mtx; text may be .gz; or a folder with "
    "matrix.mtx, barcodes.tsv and features.tsv"
)
MatrixPath = Annotated[Path, typer.Argument(help=f"{_FILES}.", metavar="MATRIX")]
LargeMatrixPath = Annotated[
    Path,
    typer.Argument(
        help=f"{_FILES}; or, for one that is larger than memory, many files ('data/*.parquet', "
        "'data/*.csv') or .zarr.",
        metavar="MATRIX",
    ),
]


class Layout(StrEnum):
    """Forms of a table."""

    auto = "auto"
    wide = "wide"
    long = "long"


class Absent(StrEnum):
    """What a pair is that a long table does not list."""

    zero = "zero"
    missing = "missing"


@dataclass(frozen=True)
class Reading:
    """How to read the file.

    Examples
    --------
    >>> Reading(transpose=True).layout
    <Layout.auto: 'auto'>
    """

    transpose: Annotated[
        bool,
        typer.Option("--transpose", help="Swap rows and columns.", rich_help_panel=_PANEL),
    ] = False
    layer: Annotated[
        str | None,
        typer.Option(help="Layer of an .h5ad file to use, not X.", rich_help_panel=_PANEL),
    ] = None
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Use raw of an .h5ad file, not X.", rich_help_panel=_PANEL),
    ] = False
    sheet: Annotated[
        str | None,
        typer.Option(help="Sheet of an Excel file, not the first.", rich_help_panel=_PANEL),
    ] = None
    layout: Annotated[
        Layout,
        typer.Option(
            help="wide: a row per line; long: a cell per line (row, column, value).",
            rich_help_panel=_PANEL,
        ),
    ] = Layout.auto
    absent: Annotated[
        Absent | None,
        typer.Option(
            help="What pairs are that a long table does not list; zero unless given.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    @property
    def options(self) -> dict[str, Any]:
        """The options, to be kept beside the results."""
        return asdict(self)

    @classmethod
    def again(cls, options: Mapping[str, Any]) -> Reading:
        """The same options, from what was kept."""
        layout, absent = Layout(options["layout"]), options["absent"]
        enums = {"layout": layout, "absent": None if absent is None else Absent(absent)}
        return cls(**{**options, **enums})

    def read(self, path: Path, quiet: bool) -> Matrix:
        """Read a file, with a bar on the screen while it takes long."""
        with reading_bar(quiet) as watch, warnings_as_lines():
            matrix = read_matrix(
                path,
                layer=self.layer,
                raw=self.raw,
                sheet=self.sheet,
                layout=self.layout.value,
                absent=self.absent and self.absent.value,
                watch=watch,
            )
        if not self.transpose:
            return matrix
        return matrix.transpose().noting("Then rows and columns were swapped.")
