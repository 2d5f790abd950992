"""Options of the commands: their names, types, defaults and help texts.

Importing this module is fast: it needs nothing but typer, so that ``--help`` answers at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "AnnotateOptions",
    "AsJson",
    "EncodeOptions",
    "FitReadOptions",
    "Force",
    "JsonProgress",
    "LargeMatrixPath",
    "MatrixPath",
    "ModelOptions",
    "OptionalFolder",
    "OutputFolder",
    "OutputFormat",
    "PrepareOptions",
    "Quiet",
    "ReadOptions",
    "Repeats",
    "ResultOptions",
    "RunOptions",
    "Seed",
    "WriteOptions",
    "expand_groups",
    "parse_figure_formats",
    "parse_n_clusters",
]


class Metric(StrEnum):
    """Distances between rows and between columns."""

    auto = "auto"
    euclidean = "euclidean"
    manhattan = "manhattan"
    cosine = "cosine"


class Variant(StrEnum):
    """Variants of the algorithm."""

    refined = "refined"
    paper = "paper"


class OutputFormat(StrEnum):
    """File formats of the results."""

    csv = "csv"
    parquet = "parquet"
    h5ad = "h5ad"


class Layout(StrEnum):
    """Layouts of a table."""

    auto = "auto"
    wide = "wide"
    long = "long"


class Absent(StrEnum):
    """Values of row-column pairs that a long table does not list."""

    zero = "zero"
    missing = "missing"


FIGURE_FORMATS = ("png", "pdf", "svg")
PREPARATIONS = (
    "complement",
    "normalize",
    "log1p",
    "log",
    "tfidf",
    "balance",
    "center_rows",
    "scale_rows",
    "zscore",
    "center",
)


def complete_figure_formats(incomplete: str) -> list[str]:
    """Complete the last one of formats with commas between them."""
    return _complete_last(incomplete, FIGURE_FORMATS)


def complete_preparations(incomplete: str) -> list[str]:
    """Complete the last one of preparations with commas between them."""
    alone = () if "," in incomplete else ("auto", "none")
    return _complete_last(incomplete, (*alone, *PREPARATIONS))


def complete_n_clusters(incomplete: str) -> list[str]:
    """Complete the only word among numbers of clusters."""
    return _complete_last(incomplete, ("auto",))


def complete_cluster(incomplete: str) -> list[str]:
    """Complete where a fit may run."""
    return _complete_last(incomplete, ("local", "local:", "tcp://"))


def _complete_last(incomplete: str, names: Sequence[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [before + comma + name for name in names if name.startswith(last) and name not in given]


_FILES = (
    "CSV, TSV, Excel, Parquet, .h5ad, .npz, .npy or .mtx file; text may be compressed (.gz); or a "
    "folder with matrix.mtx, barcodes.tsv and features.tsv"
)
MatrixPath = Annotated[Path, typer.Argument(help=f"{_FILES}.", metavar="MATRIX")]
LargeMatrixPath = Annotated[
    Path,
    typer.Argument(
        help=f"{_FILES}. A matrix larger than memory may be given as many files "
        "('data/*.parquet', 'data/*.csv') or as .zarr.",
        metavar="MATRIX",
    ),
]
OptionalFolder = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Folder for the results; by default in the current folder, with the name of MATRIX: "
        "counts-pyrocco for counts.csv.",
        metavar="OUT",
        show_default=False,
    ),
]
OutputFolder = Annotated[
    Path, typer.Option("-o", "--output", help="Folder for the results.", metavar="OUT")
]
Seed = Annotated[
    int, typer.Option(min=0, help="Random seed; the same seed gives the same result.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--reproducibility",
        min=1,
        metavar="N",
        help="Measure with N repeats, such as 20, whether the clusters are found again in other "
        "parts of the data; a repeat takes about as long as eight fits.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on standard output.")
]

JsonProgress = Annotated[
    bool,
    typer.Option(
        "--json-progress",
        help="Report progress as lines of JSON on standard error, for programs that run this "
        "command.",
    ),
]


@dataclass(frozen=True)
class ModelOptions:
    """Options of the algorithm."""

    n_neighbors: Annotated[
        int, typer.Option(min=1, help="Number of neighbours of each row and column in the graphs.")
    ] = 10
    metric: Annotated[
        Metric,
        typer.Option(
            help="Distance between rows and between columns; auto chooses cosine for data that "
            "are mostly zeros."
        ),
    ] = Metric.auto
    variant: Annotated[
        Variant, typer.Option(help="The refined algorithm, or that of the paper without changes.")
    ] = Variant.refined
    n_clusters: Annotated[
        str,
        typer.Option(
            metavar="N|ROWS,COLUMNS",
            autocompletion=complete_n_clusters,
            help="Number of clusters: 4 for both rows and columns, 4,3 for each, or auto.",
        ),
    ] = "auto"
    seed: Seed = 0


_reading = partial(typer.Option, rich_help_panel="Reading the file")


@dataclass(frozen=True)
class ReadOptions:
    """How to read the file of a matrix."""

    transpose: Annotated[bool, _reading("--transpose", help="Swap rows and columns.")] = False
    layer: Annotated[str | None, _reading(help="Layer of an .h5ad file to use instead of X.")] = (
        None
    )
    raw: Annotated[bool, _reading("--raw", help="Use raw of an .h5ad file instead of X.")] = False
    sheet: Annotated[
        str | None,
        _reading(
            metavar="NAME|N",
            help="Sheet of an Excel file, its name or number; the first one by default.",
        ),
    ] = None
    layout: Annotated[
        Layout,
        _reading(
            help="Layout of a table: wide has one row of the matrix per line, long has one value "
            "per line (row, column, value)."
        ),
    ] = Layout.auto
    absent: Annotated[
        Absent | None,
        _reading(
            help="How to treat row-column pairs that a long table does not list; by default they "
            "are missing if the values are marks, such as ratings, and zero otherwise."
        ),
    ] = None
    row_names: Annotated[
        str | None,
        _reading(
            metavar="COLUMN|none",
            help="Column of a table that holds the row names, by its name or position (from 1); "
            "none if no column does.",
        ),
    ] = None
    skip_rows: Annotated[
        int | None,
        _reading(
            min=0,
            metavar="N",
            help="Number of lines above the table; by default titles and comments are detected.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        _reading(
            "--header/--no-header",
            help="Whether the first line of the table holds the names of columns.",
            show_default=False,
        ),
    ] = None
    decimal: Annotated[
        str | None, _reading(metavar=".|,", help="Decimal sign of a text file.")
    ] = None
    keep_totals: Annotated[
        bool,
        _reading(
            "--keep-totals", help="Keep a last row or column Total that is the sum of the others."
        ),
    ] = False

    @property
    def table(self) -> dict[str, Any]:
        """The arguments of `read_matrix` that concern tables."""
        return {
            "layout": self.layout.value,
            "absent": None if self.absent is None else self.absent.value,
            "row_names": self.row_names,
            "skip_rows": self.skip_rows,
            "header": self.header,
            "decimal": self.decimal,
            "keep_totals": self.keep_totals,
        }


@dataclass(frozen=True)
class FitReadOptions(ReadOptions):
    """How to read the file of a fit; a model knows the columns of new rows."""

    columns: Annotated[
        str | None,
        _reading(
            metavar="COLS",
            help="Columns of a table that are data, with commas between names, positions (from "
            "1), ranges (a:c, 2-5) and patterns (day*). With --layout long: row, column, value.",
        ),
    ] = None
    ignore: Annotated[
        str | None,
        _reading(metavar="COLS", help="Columns of a table that are not read; see --columns."),
    ] = None

    @property
    def table(self) -> dict[str, Any]:
        """The arguments of `read_matrix` that concern tables."""
        chosen = {"columns": self.columns or (), "ignore": self.ignore or ()}
        return super().table | chosen


@dataclass(frozen=True)
class EncodeOptions:
    """Whether to encode texts as numbers."""

    encode: Annotated[
        bool | None,
        _reading(
            "--encode/--no-encode",
            help="Encode yes/no answers and categories as numbers, or use columns of numbers "
            "alone. By default a table is encoded if many of its columns hold texts.",
            show_default=False,
        ),
    ] = None


_annotating = partial(typer.Option, rich_help_panel="Annotations")


@dataclass(frozen=True)
class AnnotateOptions:
    """What is known about the rows and columns besides the matrix."""

    annotate: Annotated[
        list[str] | None,
        _annotating(
            "--annotate",
            metavar="NAME[,NAME]",
            help="Columns that are not part of the matrix, but annotate its rows, such as "
            "treatment,age; of an .h5ad file, columns of obs and var. They are drawn beside the "
            "heat map and compared with the clusters.",
        ),
    ] = None
    annotate_from: Annotated[
        list[Path] | None,
        _annotating(
            "--annotate-from",
            metavar="FILE",
            help="Table of annotations with a column of the names of the rows, or of the "
            "columns, of the matrix. May be given twice.",
        ),
    ] = None

    @property
    def names(self) -> tuple[str, ...]:
        """The texts of --annotate."""
        return tuple(self.annotate or ())

    @property
    def tables(self) -> tuple[Path, ...]:
        """The files of --annotate-from."""
        return tuple(self.annotate_from or ())


_preparing = partial(typer.Option, rich_help_panel="Preparing the values")


@dataclass(frozen=True)
class PrepareOptions:
    """Which preparations to apply."""

    prepare: Annotated[
        str,
        _preparing(
            metavar="auto|none|NAME[,NAME]",
            help="Preparation of the values: auto finds out what the cells are, none takes the "
            "values as they are, or names among complement, normalize, log1p, log, tfidf, "
            "balance, center_rows, scale_rows, zscore and center, which are applied in this "
            "order.",
            autocompletion=complete_preparations,
        ),
    ] = "auto"
    normalize: Annotated[
        bool, _preparing("--normalize", help="Scale rows to the same total: --prepare normalize.")
    ] = False
    log1p: Annotated[
        bool, _preparing("--log1p", help="Replace values x by log(1 + x): --prepare log1p.")
    ] = False
    tfidf: Annotated[
        bool,
        _preparing("--tfidf", help="Weight words, the columns, by tf-idf: --prepare tfidf."),
    ] = False
    zscore: Annotated[
        bool,
        _preparing(
            "--zscore",
            help="Scale columns to mean 0 and standard deviation 1: --prepare zscore.",
        ),
    ] = False

    @property
    def chosen(self) -> str | list[str] | None:
        """The parameter `prepare` of `ROCCO`; names are not checked."""
        flags = [name for name in _FLAGS if getattr(self, name)]
        if flags and self.prepare != "auto":
            raise typer.BadParameter(
                f"leave out --{flags[0]}, or write --prepare {','.join(flags)}",
                param_hint="--prepare",
            )
        if self.prepare == "none":
            return None
        given = [name.strip() for name in self.prepare.split(",")]
        return flags or ("auto" if given == ["auto"] else given)


_FLAGS = ("normalize", "log1p", "tfidf", "zscore")


_large = partial(typer.Option, rich_help_panel="Large matrices and long runs")


@dataclass(frozen=True)
class RunOptions:
    """Where to run a fit, and whether to resume it."""

    cluster: Annotated[
        str | None,
        _large(
            metavar="local[:N]|tcp://HOST:PORT",
            autocompletion=complete_cluster,
            help="Fit in chunks of rows on a Dask cluster: on N processes of this machine, or on "
            "the cluster of a running scheduler.",
        ),
    ] = None
    memory_limit: Annotated[
        str | None,
        _large(
            metavar="SIZE",
            help="Maximum memory to use, such as 4GB; with a local cluster, that of all "
            "processes together.",
        ),
    ] = None
    resume: Annotated[
        bool,
        _large(
            "--resume",
            help="Continue a fit that was stopped by Ctrl-C; in chunks, it starts again.",
        ),
    ] = False


Force = Annotated[
    bool, typer.Option("--force", help="Replace existing files; an input is never replaced.")
]


@dataclass(frozen=True)
class WriteOptions:
    """How to write the results."""

    force: Force = False
    unescaped: Annotated[
        bool,
        typer.Option(
            "--unescaped",
            help="Write names that begin with =, +, - or @ to CSV files as they are; by default "
            "an apostrophe is put before them, so that no spreadsheet program runs them as "
            "formulas.",
        ),
    ] = False

    @property
    def escape(self) -> bool:
        """Whether to escape names that look like formulas."""
        return not self.unescaped


@dataclass(frozen=True)
class ResultOptions(WriteOptions):
    """Which results of a fit to write, and how."""

    output_format: Annotated[
        OutputFormat, typer.Option(help="File format of labels and block means.")
    ] = OutputFormat.csv
    figure_formats: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="png|pdf|svg[,...]",
            help="File formats of the heat map, with commas between them; pdf and svg are for "
            "publications.",
            autocompletion=complete_figure_formats,
        ),
    ] = "png"
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")] = (
        False
    )

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the heat map."""
        return parse_figure_formats(self.figure_formats)


def parse_figure_formats(text: str) -> tuple[str, ...]:
    """Parse ``png`` or ``pdf,svg``."""
    given = [part.strip().lower() for part in text.split(",")]
    for name in given:
        if name not in FIGURE_FORMATS:
            raise typer.BadParameter(
                f"write {', '.join(FIGURE_FORMATS)} or several of them with commas between, not "
                f"'{text}'",
                param_hint="--format",
            )
    return tuple(dict.fromkeys(given))


def parse_n_clusters(text: str) -> int | tuple[int | None, int | None] | None:
    """Parse ``auto``, ``4``, ``4,3`` or ``4,auto`` into the parameter of `ROCCO`."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 2 or not all(part == "auto" or part.isdecimal() for part in parts):
        raise typer.BadParameter(
            f"write 4 for both rows and columns, 4,3 for each, or auto, not '{text}'",
            param_hint="--n-clusters",
        )
    numbers = [None if part == "auto" else int(part) for part in parts]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Turn a command that takes dataclasses of options into one that takes every option.

    typer derives the options of a command from its parameters. A parameter of `command` that is
    annotated with a dataclass is replaced by one parameter per field.
    """
    hints = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters
    groups = {name: hints[name] for name in given if is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in given.items():
        flat = parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])
        parameters += _field_parameters(groups[name]) if name in groups else [flat]

    def run(**values: Any) -> None:
        for name, group in groups.items():
            names = [field.name for field in fields(group) if field.name in values]
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    run.__name__, run.__doc__ = command.__name__, _paragraphs(command)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _paragraphs(command: Callable[..., None]) -> str:
    """Return the docstring with a line for every paragraph, which the terminal wraps."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(text.split()) for text in paragraphs)


def _field_parameters(group: type) -> list[inspect.Parameter]:
    """One keyword parameter per field of a dataclass."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
