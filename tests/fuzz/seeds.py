"""A small valid input of every format, written by the libraries that people use."""

import gzip
import io
import re
import sys
import warnings
import zipfile
from collections.abc import Callable
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import io as scipy_io
from scipy import sparse

from pyrocco.cli import main
from tests.model_files import repair_digest
from tests.stopping import StopAt

OUT = "out"
_FIT = ("--no-report", "-q")


@dataclass(frozen=True)
class Command:
    """Words after ``pyrocco``, and patterns of existing files that it replaces or removes."""

    words: tuple[str, ...]
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """A valid input.

    `write` writes it to a folder, `targets` are patterns of the files that mutations change, and
    one of `commands` reads it; those that stand there several times are run more often.
    """

    write: Callable[[Path], None]
    targets: tuple[str, ...]
    commands: tuple[Command, ...]


def numbers() -> np.ndarray:
    """Three clusters of rows and three of columns, with three decimals."""
    rng = np.random.default_rng(0)
    rows, columns = np.arange(24) % 3, np.arange(15) % 3
    return np.round(4 * (rows[:, None] == columns) + rng.normal(size=(24, 15)), 3)


def counts() -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.poisson(np.exp(numbers() / 2) / 2).astype(np.float64)


def frame() -> pd.DataFrame:
    X = numbers()
    rows, columns = (pd.Index([f"{kind}{i}" for i in range(n)]) for kind, n in _sides(X))
    return pd.DataFrame(X, index=rows.rename("gene"), columns=columns)


def long_frame() -> pd.DataFrame:
    return frame().reset_index().melt("gene", var_name="sample", value_name="value")


def _sides(X: np.ndarray) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("gene", X.shape[0]), ("sample", X.shape[1])


def _write_text(folder: Path, name: str, is_long: bool, sep: str, decimal: str = ".") -> None:
    table = long_frame().set_index("gene") if is_long else frame()
    _write_table(folder / name, table.to_csv(sep=sep, decimal=decimal))


def _write_table(path: Path, text: str) -> None:
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.name.endswith("gz") else data)


def survey() -> pd.DataFrame:
    """Answers and categories beside numbers, which `pyrocco fit` encodes."""
    X = frame()
    answers = {f"answer {j}": np.where(X.iloc[:, j] > 2, "yes", "no") for j in range(3)}
    kinds = {f"kind {j}": [f"kind {int(x) % 4}" for x in X.iloc[:, j]] for j in range(3, 6)}
    return X.iloc[:, 6:9].assign(**answers, **kinds)


def _write_survey(folder: Path, name: str, sep: str) -> None:
    _write_table(folder / name, survey().to_csv(sep=sep))


def _text_samples(name: str, sep: str) -> dict[str, Sample]:
    commands = _matrix_commands(name)
    samples = {
        "wide": partial(_write_text, name=name, is_long=False, sep=sep),
        "long": partial(_write_text, name=name, is_long=True, sep=sep),
        "comma": partial(_write_text, name=name, is_long=False, sep=";", decimal=","),
        "survey": partial(_write_survey, name=name, sep=sep),
    }
    return {key: Sample(write, (name,), commands) for key, write in samples.items()}


def _fit(path: str, *options: str) -> Command:
    return Command(("fit", path, "-o", OUT, *_FIT, *options))


def _matrix_commands(path: str, *options: str) -> tuple[Command, ...]:
    inspect = Command(("inspect", path, *options))
    return (inspect, inspect, inspect, _fit(path, *options))


def _matrix_samples(
    name: str, writers: dict[str, Callable[[Path], None]], targets: tuple[str, ...] = ()
) -> dict[str, Sample]:
    commands = _matrix_commands(name)
    return {key: Sample(write, targets or (name,), commands) for key, write in writers.items()}


def _write_npy(folder: Path, dtype: str, order: str) -> None:
    np.save(folder / "data.npy", np.asarray(numbers(), dtype=dtype, order=order))


def write_zip(path: Path, members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED):
    """Write an archive whose bytes do not depend on the time."""
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names may be there twice
        for name, data in members:
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = method
            archive.writestr(info, data)


def read_zip(path: Path) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def array_bytes(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _write_npz(folder: Path, others: bool, compressed: bool) -> None:
    members = [("X.npy", array_bytes(numbers()))]
    if others:
        members.append(("labels.npy", array_bytes(np.arange(24) % 3)))
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    write_zip(folder / "data.npz", members, method)


def _write_sparse_npz(folder: Path, kind: str) -> None:
    path = folder / "data.npz"
    sparse.save_npz(path, sparse.csr_array(counts()).asformat(kind))
    write_zip(path, read_zip(path), zipfile.ZIP_DEFLATED)


def market_text(kind: str) -> bytes:
    file = io.BytesIO()
    matrix = numbers() if kind == "array" else sparse.coo_array(counts())
    scipy_io.mmwrite(file, matrix, precision=5)
    return file.getvalue()


def _write_market(folder: Path, name: str, kind: str) -> None:
    text = market_text(kind)
    (folder / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith("gz") else text)


def _market_samples(name: str) -> dict[str, Sample]:
    kinds = ("array", "coordinate")
    return _matrix_samples(name, {k: partial(_write_market, name=name, kind=k) for k in kinds})


def _write_10x(folder: Path) -> None:
    cells = folder / "cells"
    cells.mkdir()
    _write_market(cells, "matrix.mtx", "coordinate")
    genes = [f"ENSG{i}\tgene{i}\tGene Expression\n" for i in range(24)]
    (cells / "features.tsv").write_text("".join(genes))
    (cells / "barcodes.tsv").write_text("".join(f"AAC{i}-1\n" for i in range(15)))


def _write_parquet(folder: Path, is_long: bool, compression: str) -> None:
    table = long_frame() if is_long else frame()
    table.to_parquet(folder / "data.parquet", compression=compression, row_group_size=9)


def _annotated(kind: str):
    import anndata  # noqa: PLC0415 - slow to import, and only this format needs it

    def matrix(values: np.ndarray):
        return values if kind == "dense" else sparse.csr_array(values).asformat(kind)

    table = frame()
    data = anndata.AnnData(
        matrix(counts()),
        obs=pd.DataFrame({"batch": pd.Categorical(["a", "b"] * 12)}, index=list(table.index)),
        var=pd.DataFrame(index=list(table.columns)),
        layers={"scaled": matrix(numbers())},
    )
    data.raw = data.copy()
    return data


def _write_h5ad(folder: Path, kind: str) -> None:
    _annotated(kind).write_h5ad(folder / "data.h5ad")


def _h5ad_samples() -> dict[str, Sample]:
    samples = {}
    for kind in ("dense", "csr", "csc"):
        for part, options in {"X": (), "layer": ("--layer", "scaled"), "raw": ("--raw",)}.items():
            write = partial(_write_h5ad, kind=kind)
            commands = _matrix_commands("data.h5ad", *options)
            samples[f"{kind}-{part}"] = Sample(write, ("data.h5ad",), commands)
    return samples


def _write_excel(folder: Path, is_long: bool) -> None:
    path = folder / "data.xlsx"
    table = long_frame().set_index("gene").head(60) if is_long else frame()
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        table.to_excel(writer, sheet_name="values")
        table.head(2).to_excel(writer, sheet_name="notes")
    # The properties of the document hold the time.
    members = [(name, data) for name, data in read_zip(path)]
    fixed = [(name, _without_times(data)) for name, data in members]
    write_zip(path, fixed, zipfile.ZIP_DEFLATED)


def _without_times(data: bytes) -> bytes:
    start = data.find(b"<dcterms:created")
    stop = data.rfind(b"</cp:coreProperties>")
    return data if start < 0 or stop < 0 else data[:start] + data[stop:]


def _write_zarr(folder: Path, version: int, is_group: bool) -> None:
    import zarr  # noqa: PLC0415 - starts threads

    path = str(folder / "data.zarr")
    if not is_group:
        zarr.create_array(path, data=numbers(), chunks=(9, 15), zarr_format=version)
        return
    group = zarr.create_group(path, zarr_format=version)
    group.create_array("X", data=numbers(), chunks=(9, 15))
    table = frame()
    for name, names in {"row_names": table.index, "column_names": table.columns}.items():
        group.create_array(name, data=np.asarray(names, dtype="<U9"))


def _zarr_samples() -> dict[str, Sample]:
    return {
        f"v{version}-{'group' if is_group else 'array'}": Sample(
            partial(_write_zarr, version=version, is_group=is_group),
            ("data.zarr/**/*",),
            (_fit("data.zarr"),),
        )
        for version in (2, 3)
        for is_group in (False, True)
    }


def _write_parts(folder: Path, ending: str) -> None:
    parts = folder / "data"
    parts.mkdir()
    for i in range(3):
        part, path = frame().iloc[8 * i : 8 * i + 8], parts / f"part-{i}{ending}"
        part.to_csv(path) if ending == ".csv" else part.to_parquet(path)


def _part_samples(ending: str) -> dict[str, Sample]:
    pattern = f"data/*{ending}"
    return {"plain": Sample(partial(_write_parts, ending=ending), (pattern,), (_fit(pattern),))}


def _run_in(folder: Path, words: list[str], observer: StopAt | None = None) -> int:
    """Run a command on relative paths, so that its files are the same in every folder."""
    with chdir(folder), redirect_stdout(io.StringIO()):
        return main(words, observer)


def _write_fitted(folder: Path, sparse_input: bool = False) -> None:
    """A folder of results, the matrix that was fitted and new rows."""
    path = "data.csv"
    if sparse_input:
        path = "data.npz"
        _write_sparse_npz(folder, "csr")
    else:
        frame().to_csv(folder / path)
    new = pd.DataFrame(counts()[:5]) if sparse_input else frame().head(5)
    new.to_csv(folder / "new.csv", index=not sparse_input)
    if sparse_input:
        np.save(folder / "new.npy", counts()[:5])
    words = ["fit", path, "-o", OUT, *_FIT, *(["--log1p"] if sparse_input else ["--zscore"])]
    if _run_in(folder, words) != 0:
        raise RuntimeError("the sample could not be fitted")
    summary = folder / OUT / "summary.json"
    summary.write_bytes(_without_seconds(summary.read_bytes()))
    _make_repeatable(folder / OUT / "model.pyrocco")


def _fitted_samples(target: str) -> dict[str, Sample]:
    report = Command(("report", OUT), (f"{OUT}/report.html",))
    samples = {}
    for name, is_sparse, new in (("dense", False, "new.csv"), ("sparse", True, "new.npy")):
        predict = (
            Command(("predict", f"{OUT}/model.pyrocco", new)),
            Command(("predict", OUT, new, "--json")),
        )
        commands = (report,) if target == "summary.json" else (*predict, report)
        write = partial(_write_fitted, sparse_input=is_sparse)
        samples[name] = Sample(write, (f"{OUT}/{target}",), commands)
    return samples


@dataclass(frozen=True)
class Stop:
    """A fit that is stopped: the moment, the options, and what the data has.

    A fit of a complete matrix in memory stores nothing unless it is the method of the paper.
    """

    moment: str | int
    options: tuple[str, ...] = ()
    outliers: bool = False
    missing: bool = False


_PAPER = ("--variant", "paper")
# The table that is fitted, and the checkpoint of its fit.
_FITTED, _CHECKPOINT = "data.csv", f"{OUT}/checkpoint.pyrocco"
_STOPS = {
    "graphs": Stop("representation", _PAPER),
    "loop": Stop("iteration 1", missing=True),
    "end": Stop("clusters", missing=True),
    "outliers": Stop("fit without outlier cells", outliers=True),
    "paper": Stop("iteration 5", _PAPER),
}


def _write_checkpoint(folder: Path, stop: Stop) -> None:
    """A folder of results with the checkpoint of a fit that was stopped."""
    table = frame()
    if stop.outliers:
        table.iloc[::5, ::4] *= 60
    if stop.missing:
        table.iloc[[1, 5], [2, 7]] = np.nan
    table.to_csv(folder / _FITTED)
    words = ["fit", _FITTED, "-o", OUT, *_FIT, *stop.options]
    if _run_in(folder, words, StopAt(stop.moment)) != 130:
        raise RuntimeError("the fit of the sample was not stopped")
    _make_repeatable(folder / _CHECKPOINT)


def _make_repeatable(path: Path) -> None:
    """Remove times from a model file."""
    members = [(name, _without_seconds(data)) for name, data in read_zip(path)]
    write_zip(path, members, zipfile.ZIP_DEFLATED)
    repair_digest(path)


def _without_seconds(text: bytes) -> bytes:
    return re.sub(rb'"seconds": [0-9.e-]+', b'"seconds": 0.1', text)


def _checkpoint_samples() -> dict[str, Sample]:
    words = ("fit", _FITTED, "-o", OUT, *_FIT, "--resume")
    return {
        name: Sample(
            partial(_write_checkpoint, stop=stop),
            (_CHECKPOINT,),
            (Command((*words, *stop.options), (_CHECKPOINT,)),),
        )
        for name, stop in _STOPS.items()
    }


FORMATS: dict[str, dict[str, Sample]] = {
    "csv": _text_samples("data.csv", ","),
    "tsv": _text_samples("data.tsv", "\t"),
    "txt": _text_samples("data.txt", "\t"),
    "csv.gz": _text_samples("data.csv.gz", ","),
    "npy": _matrix_samples(
        "data.npy",
        {
            "double": partial(_write_npy, dtype="f8", order="C"),
            "fortran": partial(_write_npy, dtype="f4", order="F"),
            "integers": partial(_write_npy, dtype="i4", order="C"),
        },
    ),
    "npz": _matrix_samples(
        "data.npz",
        {
            "one": partial(_write_npz, others=False, compressed=False),
            "several": partial(_write_npz, others=True, compressed=False),
            "compressed": partial(_write_npz, others=False, compressed=True),
        },
    ),
    "sparse.npz": _matrix_samples(
        "data.npz", {kind: partial(_write_sparse_npz, kind=kind) for kind in ("csr", "csc", "coo")}
    ),
    "mtx": _market_samples("data.mtx"),
    "mtx.gz": _market_samples("data.mtx.gz"),
    "10x": _matrix_samples("cells", {"plain": _write_10x}, ("cells/*",)),
    "parquet": _matrix_samples(
        "data.parquet",
        {
            "wide": partial(_write_parquet, is_long=False, compression="snappy"),
            "long": partial(_write_parquet, is_long=True, compression="zstd"),
            "plain": partial(_write_parquet, is_long=False, compression=None),
        },
    ),
    "h5ad": _h5ad_samples(),
    "xlsx": _matrix_samples(
        "data.xlsx",
        {
            "wide": partial(_write_excel, is_long=False),
            "long": partial(_write_excel, is_long=True),
        },
    ),
    "zarr": _zarr_samples(),
    "parts.csv": _part_samples(".csv"),
    "parts.parquet": _part_samples(".parquet"),
    "model": _fitted_samples("model.pyrocco"),
    "summary": _fitted_samples("summary.json"),
    "checkpoint": _checkpoint_samples(),
}


def write_seeds(folder: Path) -> None:
    """Write all samples, each to a folder ``format/sample``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for format, samples in FORMATS.items():
            for name, sample in samples.items():
                place = folder / format / name
                place.mkdir(parents=True)
                sample.write(place)


if __name__ == "__main__":
    write_seeds(Path(sys.argv[1]))
