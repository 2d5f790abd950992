"""Building blocks of the Markdown reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

PACKAGES = ("python", "pyrocco", "numpy", "scipy", "scikit-learn", "numba")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spread(values: pd.Series, digits: int = 3) -> str:
    """Mean and standard deviation over seeds; the mean alone for one value."""
    values = values.dropna()
    if values.empty:
        return "-"
    mean = f"{values.mean():.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {values.std(ddof=1):.{digits}f}"


def with_printed(ours: str, printed: float | None, digits: int = 3) -> str:
    """Our value, with the paper's in brackets if there is one."""
    return ours if printed is None else f"{ours} [{printed:.{digits}f}]"


def command(
    name: str,
    frame: pd.DataFrame,
    line_up: Sequence[str],
    sets: Sequence[str],
    quick: bool,
    first_seed: int = 0,
) -> str:
    """The command that computes the rows of `frame`; `sets` are the data sets of a full run."""
    words = ["python -m benchmarks.paper", name, *(["--quick"] if quick else [])]
    words += [f"--seeds {frame['seed'].astype(int).max() + 1 - first_seed}"]
    methods, found = ordered(frame["method"], line_up), ordered(frame["dataset"], sets)
    if methods != list(line_up):
        words += ["--methods", *methods]
    if found != list(sets) and not quick:
        words += ["--datasets", *found]
    return " ".join(words)


def caution(quick: bool) -> str:
    """Return a note if the run is a quick one."""
    if not quick:
        return ""
    return (
        "**A quick run: small samples of the data, few seeds, a short time limit. It checks that "
        "everything works; do not compare it with the paper's numbers.**"
    )


def write(path: Path, parts: Iterable[str]) -> None:
    """Write the non-empty parts as paragraphs."""
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def ordered(names: Iterable[str], line_up: Sequence[str]) -> list[str]:
    """Unique names: those of `line_up` first, in its order, then the others sorted."""
    found = set(names)
    return [n for n in line_up if n in found] + sorted(found - set(line_up))


def seeds(frame: pd.DataFrame) -> str:
    """Number of seeds per cell."""
    sizes = frame.groupby(["dataset", "method", "options"]).size()
    low, high = sizes.min(), sizes.max()
    return str(low) if low == high else f"{low} to {high}"


def provenance(frame: pd.DataFrame) -> str:
    """Software, machine and dates of the results."""
    used = [f"{name} {', '.join(_distinct(frame[name]))}" for name in PACKAGES]
    by_commit: dict[str, list[str]] = {}
    for method, commits in frame.groupby("method")["commit"].unique().items():
        by_commit.setdefault(", ".join(sorted(commits)), []).append(str(method))
    made = "; ".join(f"{commit or 'unknown'}: {', '.join(m)}" for commit, m in by_commit.items())
    return (
        f"Software: {'; '.join(used)}. Threads: {', '.join(_distinct(frame['threads']))}. "
        f"Time limit of a cell: {', '.join(_distinct(frame['time_limit']))} s.\n\n"
        f"Commit of `src/pyrocco` by method (+ if edited since): {made}.\n\n{_places(frame)}"
    )


def _places(frame: pd.DataFrame) -> str:
    """Machines and dates, with the methods computed there."""
    groups = frame[frame["machine"] != ""].groupby("machine")
    notes = []
    for machine, part in groups:
        days = sorted(part["date"].unique())
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        notes.append(f"{machine}, {span}: {', '.join(sorted(part['method'].unique()))}")
    return f"Machine and date by method: {'; '.join(notes) or 'not recorded'}."


def failures(frame: pd.DataFrame) -> str:
    """All cells without labels, with the reason."""
    bad = frame[frame["status"] != "ok"]
    if bad.empty:
        return "All cells gave labels."
    groups = bad.groupby(["method", "options", "status", "reason"], sort=False)
    rows = [
        [f"{method} {options}".strip(), ", ".join(part["dataset"].unique()),
         _range(part["seed"]), status, reason.replace("|", "/")]
        for (method, options, status, reason), part in groups
    ]  # fmt: skip
    head = ["method", "data sets", "seeds", "status", "reason"]
    return "Cells without labels:\n\n" + table(head, rows)


def warned(frame: pd.DataFrame) -> str:
    """Warnings by method, with their number."""
    said = frame[(frame["status"] == "ok") & (frame["reason"] != "")]
    if said.empty:
        return ""
    counts = said.groupby(["method", "reason"]).size()
    notes = [f"{method} {reason} ({count} cells)" for (method, reason), count in counts.items()]
    return f"Warnings: {'; '.join(notes)}."


def _distinct(values: pd.Series) -> list[str]:
    return sorted({f"{v:g}" if isinstance(v, float) else str(v) for v in values.dropna()})


def _range(numbers: pd.Series) -> str:
    found = sorted({int(number) for number in numbers})
    return f"{found[0]}-{found[-1]}" if len(found) > 1 else str(found[0])
