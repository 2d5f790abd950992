"""Store the answers of many fits, and compare them with those of another version.

A change of the code that should not change any answer is checked in two steps:

    python -m benchmarks.quality.stored_fits store before.npz     # with the old code
    python -m benchmarks.quality.stored_fits compare before.npz   # with the new code

Fits on real data are included where ``PYROCCO_DATA`` names their folder, fits on a GPU where
there is one (``--only cuda``). Only public names are used, so that both versions can run it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import pyrocco
from pyrocco import COBRA, RCC, ROCCO, COBRAr
from pyrocco.datasets import make_noisy_biclusters

Answers = dict[str, Any]
Fit = Callable[[], Answers]

# What version 0.1.0 called some of the attributes.
OLD_NAMES = {
    "row_membership_": "row_confidence_",
    "column_membership_": "column_confidence_",
    "structure_": "reading_",
}
# Numbers that may differ by rounding: the relative difference that is still the same answer.
TOLERANCE = 1e-6


def planted(shape: tuple[int, int], k: int, noise: float, seed: int = 0) -> Any:
    """Planted biclusters under Gaussian noise."""
    return make_noisy_biclusters(shape, n_clusters=k, noise=noise, random_state=seed).X


def counts(seed: int = 0, shape: tuple[int, int] = (300, 200)) -> Any:
    """Sparse counts with three topics."""
    random = np.random.RandomState(seed)
    topics = random.randint(3, size=shape[0]), random.randint(3, size=shape[1])
    rate = np.where(topics[0][:, None] == topics[1], 0.25, 0.02)
    return sparse.csr_matrix(random.poisson(rate).astype(float))


def with_missing(X: Any, share: float, seed: int = 0) -> Any:
    """The same matrix, a share of its cells missing."""
    hidden = np.random.RandomState(seed).uniform(size=X.shape) < share
    return np.where(hidden, np.nan, X)


def with_outliers(X: Any, share: float, seed: int = 0) -> Any:
    """The same matrix, a share of its cells replaced by large values."""
    random = np.random.RandomState(seed)
    hit = random.uniform(size=X.shape) < share
    return np.where(hit, 30 * X.std() * random.standard_normal(X.shape), X)


def repeated(X: Any) -> Any:
    """The rows of X in another order, some of them several times."""
    return X[np.random.RandomState(0).randint(len(X), size=len(X))]


def answers_of(model: Any, X: Any = None, extra: bool = False) -> Answers:
    """Everything of a fitted model that should stay the same."""
    names = (
        "row_labels_", "column_labels_", "labels_", "row_membership_", "column_membership_",
        "row_stability_", "column_stability_", "block_means_", "n_iter_", "gamma_", "structure_",
    )  # fmt: skip
    found = {}
    for name in names:
        for spelling in (name, OLD_NAMES.get(name, name)):
            if hasattr(model, spelling):
                found[name] = np.asarray(getattr(model, spelling))
    if hasattr(model, "representation_"):
        U = np.asarray(model.representation_, dtype=float)
        found["representation"] = np.array([U.sum(), np.abs(U).sum(), np.square(U).sum()])
    if extra:
        found |= later_answers(model, X)
    return found


def later_answers(model: Any, X: Any) -> Answers:
    """Answers of a model to further questions."""
    new = X[:7].toarray() if sparse.issparse(X) else np.array(X[:7])
    new = new * 1.01 + 0.001
    cut = model.at(n_row_clusters=min(2, model.n_row_clusters_))
    placed = model.place(new)
    columns = X[:, :5].toarray() if sparse.issparse(X) else X[:, :5]
    explained = model.explain(top=3)
    found = {
        "predict": model.predict(new),
        "predict own": model.predict(X),
        "membership of new rows": placed[placed.columns[1]].to_numpy(),
        "distance of new rows": placed["distance"].to_numpy(),
        "predict columns": model.predict_columns(columns),
        "cut labels": cut.row_labels_,
        "cut means": cut.block_means_,
        "effects": explained["effect"].to_numpy(),
        "p": explained["p_adjusted"].to_numpy(dtype=float),
        "transform": model.transform(new),
    }
    if not sparse.issparse(X) and np.isnan(X).any():
        found["imputed"] = np.asarray(model.impute(X)).sum(axis=0)
    return found


def rocco(X: Any, *, weights: Any = None, later: bool = False, **options: Any) -> Fit:
    """One fit of ROCCO."""

    def fit() -> Answers:
        return answers_of(ROCCO(**options).fit(X, sample_weight=weights), X, later)

    return fit


def other(model: Any, X: Any) -> Fit:
    """One fit of another estimator."""
    return lambda: answers_of(model.fit(X))


def planted_fits() -> dict[str, Fit]:
    """Fits on matrices made here."""
    fits: dict[str, Fit] = {}
    for seed in range(4):
        for noise in (5, 20, 40):
            X = planted((100, 80), 4, noise, seed)
            fits[f"planted {seed} {noise}"] = rocco(X, later=seed == 0)
    X = planted((120, 90), 4, 15)
    fits["float32"] = rocco(X.astype(np.float32), later=True)
    fits["times 1000"] = rocco(1000 * X)
    fits["transposed"] = rocco(np.ascontiguousarray(X.T), later=True)
    fits["wide"] = rocco(planted((40, 400), 3, 10))
    fits["noise only"] = rocco(np.random.RandomState(0).standard_normal((80, 60)))
    fits["gradient"] = rocco(np.add.outer(np.arange(60.0), np.arange(50.0)))
    fits["clusters given"] = rocco(X, n_clusters=(3, 2), later=True)
    fits["one number given"] = rocco(X, n_clusters=(None, 5))
    fits["large"] = rocco(planted((6000, 60), 5, 20), later=True)
    for metric in ("cosine", "manhattan"):
        fits[f"metric {metric}"] = rocco(X, metric=metric)
    for solver in ("multigrid", "spectral", "bartels-stewart", "conjugate-gradient", "decoupled"):
        fits[f"solver {solver}"] = rocco(X, solver=solver)
    for name, csr in (("counts", counts()), ("counts 1", counts(1, (500, 300)))):
        fits[f"CSR {name}"] = rocco(csr, later=True)
        fits[f"dense {name}"] = rocco(csr.toarray())
    fits["CSR float32"] = rocco(counts().astype(np.float32))
    contaminated = counts(2)
    contaminated.data[:3] = 1e4
    fits["CSR outliers"] = rocco(contaminated, later=True)
    return fits


def missing_fits() -> dict[str, Fit]:
    """Fits with missing values, weights, repeated rows and outlier cells."""
    X = planted((100, 80), 4, 10)
    fits: dict[str, Fit] = {}
    for share in (0.05, 0.3, 0.6):
        fits[f"missing {share}"] = rocco(with_missing(X, share), later=True)
    empty = with_missing(X, 0.1)
    empty[3], empty[:, 5] = np.nan, np.nan
    fits["missing row and column"] = rocco(empty, later=True)
    fits["missing CSR"] = rocco(sparse.csr_matrix(with_missing(X, 0.1)))
    fits["missing and outliers"] = rocco(with_missing(with_outliers(X, 0.05), 0.1), later=True)
    for share in (0.03, 0.1):
        fits[f"outliers {share}"] = rocco(with_outliers(X, share), later=True)
    weights = np.random.RandomState(0).randint(4, size=100)
    fits["weights"] = rocco(X, weights=weights, later=True)
    fits["weights CSR"] = rocco(counts(shape=(100, 80)), weights=weights)
    fits["weights and missing"] = rocco(with_missing(X, 0.1), weights=weights, later=True)
    fits["weights and outliers"] = rocco(with_outliers(X, 0.1), weights=weights, later=True)
    fits["repeated rows"] = rocco(repeated(X), later=True)
    return fits


def paper_fits() -> dict[str, Fit]:
    """The paper's methods."""
    fits: dict[str, Fit] = {}
    for seed in range(3):
        X = planted((60, 50), 3, 10, seed)
        fits[f"paper {seed}"] = rocco(X, variant="paper", later=seed == 0)
    fits["paper CSR"] = rocco(counts(shape=(120, 80)), variant="paper")
    fits["paper weights"] = rocco(planted((60, 50), 3, 10), variant="paper", weights=[1, 2] * 30)
    fits["RCC"] = other(RCC(), planted((150, 30), 4, 5))
    fits["RCC paper"] = other(RCC(variant="paper"), planted((150, 30), 4, 5))
    fits["RCC CSR"] = other(RCC(), counts())
    fits["COBRA"] = other(COBRA(), planted((40, 30), 3, 5))
    fits["COBRA missing"] = other(COBRA(gamma=10.0), with_missing(planted((40, 30), 3, 5), 0.1))
    fits["COBRAr"] = other(COBRAr(), planted((50, 40), 3, 5))
    for name in ("AutoKMeans", "AutoSpectralBiclustering", "AutoSpectralCoclustering"):
        fits[name] = other(getattr(pyrocco, name)(), planted((80, 60), 3, 5))
    return fits


def chunked_fits() -> dict[str, Fit]:
    """Fits of Dask arrays without a cluster, and within a memory limit."""
    import dask.array as da  # noqa: PLC0415

    X = planted((3000, 60), 4, 15)

    def dask(X: Any, chunks: int, **options: Any) -> Fit:
        return lambda: answers_of(ROCCO(**options).fit(da.from_array(X, chunks=(chunks, -1))))

    return {
        "Dask": dask(X, 700),
        "Dask wide": dask(np.ascontiguousarray(X.T), 20),
        "Dask repeated rows": dask(repeated(X), 900),
        "Dask clusters given": dask(X, 1000, n_clusters=(3, 2)),
        "Dask conjugate gradients": dask(X, 1000, solver="conjugate-gradient"),
        "memory limit, files": rocco(planted((40000, 250), 5, 15), memory_limit="530MB"),
        "memory limit, single": rocco(planted((30000, 150), 5, 15), memory_limit="600MB"),
    }


def real_fits() -> dict[str, Fit]:
    """Fits of public data sets as they come."""
    folder = os.environ.get("PYROCCO_DATA")
    if not folder:
        return {}

    def read(name: str) -> Any:
        with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as file:
            if "X" in file:
                return np.asarray(file["X"], dtype=float)
            parts = file["data"].astype(float), file["indices"], file["indptr"]
            return sparse.csr_matrix(parts, shape=tuple(file["shape"]))

    small = ("glioma", "allaml", "20news2", "more/west_2001", "more/tr11", "more/chen_2002",
             "more/liang_2005", "more/re0")  # fmt: skip
    return {name: (lambda name=name: rocco(read(name))()) for name in (*small, "classic3")}


def cuda_fits() -> dict[str, Fit]:
    """The same kinds of fits on a GPU."""
    X = planted((120, 90), 4, 15)
    weights = np.random.RandomState(0).randint(4, size=120)
    return {
        "cuda": rocco(X, device="cuda", later=True),
        "cuda float32": rocco(X.astype(np.float32), device="cuda"),
        "cuda large": rocco(planted((6000, 60), 5, 20), device="cuda", later=True),
        "cuda CSR": rocco(counts(), device="cuda", later=True),
        "cuda missing": rocco(with_missing(X, 0.3), device="cuda", later=True),
        "cuda outliers": rocco(with_outliers(X, 0.1), device="cuda", later=True),
        "cuda weights": rocco(X, weights=weights, device="cuda", later=True),
        "cuda wide": rocco(planted((40, 400), 3, 10), device="cuda"),
        "cuda paper": rocco(planted((60, 50), 3, 10), variant="paper", device="cuda"),
    }


KINDS: dict[str, Callable[[], dict[str, Fit]]] = {
    "planted": planted_fits,
    "missing": missing_fits,
    "paper": paper_fits,
    "chunked": chunked_fits,
    "real": real_fits,
    "cuda": cuda_fits,
}


def compute(kinds: list[str]) -> dict[str, Answers]:
    """Run all fits of the kinds."""
    found = {}
    for kind in kinds:
        for name, fit in KINDS[kind]().items():
            started = time.perf_counter()
            with warnings.catch_warnings(action="ignore"):
                found[name] = fit()
            print(f"{name}: {time.perf_counter() - started:.1f} s", flush=True)
    return found


def store(path: Path, kinds: list[str]) -> None:
    """Write the answers of all fits to a file."""
    found = compute(kinds)
    flat = {
        f"{fit}|{name}": value for fit, parts in found.items() for name, value in parts.items()
    }
    np.savez_compressed(path, **flat)
    print(f"{len(found)} fits stored in {path}")


def compare(path: Path, kinds: list[str]) -> int:
    """Run all fits again; return the number of fits with another answer."""
    with np.load(path) as file:
        before = {name: file[name] for name in file}
    found = compute(kinds)
    changed = 0
    for fit, parts in found.items():
        differences = []
        for name, value in parts.items():
            old = before.get(f"{fit}|{name}")
            if old is not None and not same(old, np.asarray(value)):
                differences.append(f"{name} ({difference(old, np.asarray(value))})")
        stored = {name.split("|")[1] for name in before if name.split("|")[0] == fit}
        differences += [f"{name} is gone" for name in sorted(stored - set(parts))]
        if not stored:
            differences.append("was not stored")
        if differences:
            changed += 1
            print(f"DIFFERENT  {fit}: {', '.join(differences)}")
    print(f"{len(found) - changed} of {len(found)} fits gave the same answers")
    return changed


def same(old: Any, new: Any) -> bool:
    """Whether two answers are the same, apart from rounding."""
    if old.shape != new.shape:
        return False
    if old.dtype.kind in "iubUS":
        return bool((old == new).all())
    return bool(np.allclose(old, new, rtol=TOLERANCE, atol=1e-9, equal_nan=True))


def difference(old: Any, new: Any) -> str:
    """How far two answers are apart."""
    if old.shape != new.shape:
        return f"shape {old.shape}, now {new.shape}"
    if old.dtype.kind in "iubUS":
        return f"{np.count_nonzero(old != new)} of {old.size} differ"
    scale = np.nanmax(np.abs(old)) or 1.0
    return f"relative difference {np.nanmax(np.abs(old - new)) / scale:.1e}"


def main() -> None:
    """Store or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("store", "compare"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", nargs="+", choices=KINDS)
    options = parser.parse_args()
    kinds = options.only or [kind for kind in KINDS if kind != "cuda"]
    if options.action == "store":
        store(options.path, kinds)
    else:
        sys.exit(compare(options.path, kinds) > 0)


if __name__ == "__main__":
    main()
