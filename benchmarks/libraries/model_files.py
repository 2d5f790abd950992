"""Compare pyrocco's model files with those of skops: time, size, safety and lifetime.

python -m benchmarks.libraries.model_files [--repeats 15]

Needs skops (``pip install skops``). Only public names of pyrocco are used. Classes that moved or
were renamed between two versions are imitated by changing their names in the file.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import skops
import skops.io as skops_io
from scipy import sparse

import pyrocco
from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters

SIZES = ((500, 300), (20_000, 200))
# The text inside each kind of file that names the classes.
TEXTS = {"pyrocco": "model.json", "skops": "schema.json"}
CLASS, MODULE = "NestedSide", "pyrocco.assign.nested"


class Noisy:
    """A class that records when its own code runs while a file is loaded."""

    calls = 0

    def __init__(self) -> None:
        self.value = 1

    def __getstate__(self) -> dict[str, Any]:
        return {"value": self.value}

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).calls += 1
        self.value = state["value"]


def save_skops(model: Any, path: Path) -> None:
    skops_io.dump(model, path)


def load_skops(path: Path) -> Any:
    return skops_io.load(path, trusted=skops_io.get_untrusted_types(file=path))


METHODS: dict[str, tuple[Callable[[Any, Path], None], Callable[[Path], Any]]] = {
    "pyrocco": (lambda model, path: model.save(path), pyrocco.load),
    "skops": (save_skops, load_skops),
}


def seconds(action: Callable[[], Any]) -> float:
    """Duration of an action."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def planted(shape: tuple[int, int]) -> np.ndarray[Any, Any]:
    return make_noisy_biclusters(shape, n_clusters=5, noise=20, random_state=0).X


def measure(folder: Path, repeats: int) -> None:
    print("| matrix | file | MB | save, ms | load, ms |")
    print("| --- | --- | --- | --- | --- |")
    for shape in SIZES:
        model = ROCCO(random_state=0).fit(planted(shape))
        model.at(2, 2)  # computed on first use: not part of the time to save
        model.predict(planted(shape)[:2])
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
        for _ in range(repeats):  # in turn, so that both meet the same load of the machine
            for name, (save, load) in METHODS.items():
                path = folder / f"{name}-{shape[0]}"
                took = seconds(partial(save, model, path)), seconds(partial(load, path))
                times[name].append(took)
        for name, pairs in times.items():
            size = (folder / f"{name}-{shape[0]}").stat().st_size / 1e6
            save_ms, load_ms = (1000 * min(column) for column in zip(*pairs, strict=True))
            cells = f"{shape[0]:,} x {shape[1]}"
            print(f"| {cells} | {name} | {size:.2f} | {save_ms:.0f} | {load_ms:.0f} |")


def fits() -> dict[str, tuple[ROCCO, Any]]:
    """Models that store different things, each with its matrix."""
    X = planted((120, 90))
    rng = np.random.default_rng(0)
    missing = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    outliers = np.where(rng.random(X.shape) < 0.05, 40 * np.abs(X).max(), X)
    counts = sparse.csr_array(np.where(rng.random(X.shape) < 0.8, 0.0, np.abs(X)))
    models = {
        "plain": (ROCCO(), X),
        "RandomState": (ROCCO(random_state=np.random.RandomState(0)), X),
        "missing values": (ROCCO(), missing),
        "outlier cells": (ROCCO(), outliers),
        "sparse": (ROCCO(), counts),
        "paper variant": (ROCCO(variant="paper", n_clusters=5), X),
        "np.memmap": (ROCCO(), X),
    }
    for model, matrix in models.values():
        model.fit(matrix)
    return models


def same_answers(model: ROCCO, again: ROCCO, X: Any) -> bool:
    pairs = [(model.row_labels_, again.row_labels_), (model.predict(X), again.predict(X))]
    pairs.append((model.at(2, 2).row_labels_, again.at(2, 2).row_labels_))
    pairs.append((model.explain()["effect"], again.explain()["effect"]))
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def attempt(action: Callable[[], Any]) -> str:
    """Result of an action, or its error in one line."""
    try:
        return str(action())
    except Exception as error:  # any failure is a result here
        return f"{type(error).__name__}: {' '.join(str(error).split())[:110]}"


def round_trips(folder: Path) -> None:
    untrusted: set[str] = set()
    print("\n| model | pyrocco | skops |\n| --- | --- | --- |")
    for kind, (model, X) in fits().items():
        if kind == "np.memmap":
            mapped = np.memmap(folder / "U", float, "w+", shape=model.representation_.shape)
            mapped[:] = model.representation_
            answers = model._answers
            answers.represented = replace(answers.represented, U=mapped)
        results = []
        for name, (save, load) in METHODS.items():
            path = folder / f"{name}-{kind.replace(' ', '-')}"

            def again() -> str:
                save(model, path)  # noqa: B023
                loaded = load(path)  # noqa: B023
                return "same answers" if same_answers(model, loaded, X) else "other answers"  # noqa: B023

            results.append(attempt(again))
        if path.exists():
            untrusted |= set(skops_io.get_untrusted_types(file=path))
        print(f"| {kind} | {results[0]} | {results[1]} |")
    print(f"\nskops asks the reader to trust {len(untrusted)} types:")
    print("\n".join(f"- {name}" for name in sorted(untrusted)))


def rewritten(path: Path, text: str, old: str, new: str) -> Path:
    """Copy a file, with a name changed in the text that names the classes."""
    copy = path.with_name(f"{path.name}-{new}")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(
                name, data.replace(old.encode(), new.encode()) if name == text else data
            )
    return copy


def lifetimes(folder: Path) -> None:
    print("\n| since the file was written | pyrocco | skops |\n| --- | --- | --- |")
    changes = {
        "a class moved to another module": (MODULE, "pyrocco.elsewhere"),
        "a class was renamed": (CLASS, "OldName"),
    }
    for change, (old, new) in changes.items():
        results = []
        for name, (_, load) in METHODS.items():
            path = rewritten(folder / f"{name}-plain", TEXTS[name], old, new)
            results.append(attempt(lambda: load(path) and "loads"))  # noqa: B023
        print(f"| {change} | {results[0]} | {results[1]} |")


def reproducibility(folder: Path) -> None:
    model = ROCCO(random_state=0).fit(planted((120, 90)))
    print("\n| file | same bytes when the loaded model is saved again |\n| --- | --- |")
    for name, (save, load) in METHODS.items():
        path = folder / f"{name}-again"
        save(model, path)
        first = path.read_bytes()
        save(load(path), path)
        print(f"| {name} | {'yes' if path.read_bytes() == first else 'no'} |")


def code_that_runs() -> None:
    data = skops_io.dumps(Noisy())
    refused = attempt(lambda: skops_io.loads(data))
    skops_io.loads(data, trusted=skops_io.get_untrusted_types(data=data))
    print(f"\nskops, a class that is not trusted: {refused}")
    print(f"skops, a class that is trusted: its __setstate__ ran {Noisy.calls} time(s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    print(f"pyrocco {pyrocco.__version__}, skops {skops.__version__}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure(folder, repeats)
        round_trips(folder)
        lifetimes(folder)
        reproducibility(folder)
    code_that_runs()


if __name__ == "__main__":
    main()
