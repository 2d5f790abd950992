"""Pieces of the Markdown reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spread(values: pd.Series, digits: int = 3) -> str:
    """Mean and standard deviation over seeds; one value has none to show."""
    values = values.dropna()
    if values.empty:
        return "-"
    mean = f"{values.mean():.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {values.std(ddof=1):.{digits}f}"


def provenance(frame: pd.DataFrame) -> str:
    """Which software, how many seeds."""
    packages = ("python", "pyrocco", "numpy", "scipy", "scikit-learn", "numba")
    used = [f"{name} {', '.join(_distinct(frame[name]))}" for name in packages]
    commits = frame.groupby("method")["commit"].unique()
    by_commit: dict[str, list[str]] = {}
    for method, found in commits.items():
        by_commit.setdefault(", ".join(sorted(found)), []).append(str(method))
    made = "; ".join(f"{commit or 'unknown'}: {', '.join(m)}" for commit, m in by_commit.items())
    return (
        f"Software: {'; '.join(used)}. Threads: {', '.join(_distinct(frame['threads']))}.\n\n"
        f"Commit of `src/pyrocco` by method (+ where edited since): {made}."
    )


def failures(frame: pd.DataFrame) -> str:
    """Every cell that gave no labels, with its reason."""
    bad = frame[frame["status"] != "ok"]
    if bad.empty:
        return "Every cell gave labels."
    groups = bad.groupby(["dataset", "method", "options", "status", "reason"], sort=False)
    rows = [
        [dataset, f"{method} {options}".strip(), _seeds(part["seed"]), status, reason]
        for (dataset, method, options, status, reason), part in groups
    ]
    head = ["data set", "method", "seeds", "what", "reason"]
    return "Cells without labels:\n\n" + table(head, rows)


def _distinct(values: pd.Series) -> list[str]:
    return sorted({f"{v:g}" if isinstance(v, float) else str(v) for v in values.dropna()})


def _seeds(seeds: pd.Series) -> str:
    numbers = sorted(int(seed) for seed in seeds)
    return f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
