"""Measure how much of the code one fit walks through, and how large the code is.

    python -m benchmarks.code_metrics

The table goes to ``benchmarks/results/code_metrics.md`` (``--print`` only prints it). Everything
is measured on the current code; the numbers of version 0.1.0 are shown for comparison.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyrocco

SOURCE = Path(pyrocco.__file__).resolve().parent
RESULTS = Path(__file__).parent / "results" / "code_metrics.md"

# Measured with this script on version 0.1.0, and the target for the next version.
BEFORE = {
    "files": (244, 150),
    "lines": (28_736, 24_000),
    "any": (0.225, 0.08),
    "bases": (8, 0),
    "fit_files": (66, 35),
    "fit_depth": (20, None),
    "command_files": (128, 70),
    "version_seconds": (2.9, 0.4),
}
TITLES = {
    "fit_files": "own files that one `fit` of a dense matrix visits",
    "fit_depth": "own functions on the stack at most during that fit",
    "bases": "own classes that `ROCCO` inherits from",
    "files": "files under `src`",
    "lines": "lines under `src`",
    "any": "parameters typed `Any`",
    "command_files": "own files that `pyrocco fit file.csv` visits",
    "version_seconds": "CPU seconds of `pyrocco --version`",
}


class Visits:
    """Records the files of pyrocco whose functions run, and how deep they are nested."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.depth = self.deepest = 0

    def __call__(self, frame: Any, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if not name.startswith(str(SOURCE)) or frame.f_code.co_name == "<module>":
            return
        if event == "call":
            self.files.add(name)
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        elif event == "return":
            self.depth -= 1

    def during(self, work: Callable[[], object]) -> Visits:
        """Record what `work` visits in this thread."""
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)
        return self


def fit_visits() -> Visits:
    """A fit of a dense matrix, everything compiled and imported before."""
    from pyrocco import ROCCO  # noqa: PLC0415
    from pyrocco.datasets import make_noisy_biclusters  # noqa: PLC0415

    X = make_noisy_biclusters((200, 120), n_clusters=4, noise=10).X
    ROCCO().fit(X)
    return Visits().during(lambda: ROCCO().fit(X))


def command_visits() -> Visits:
    """``pyrocco fit file.csv``, in this process."""
    from pyrocco.cli import main  # noqa: PLC0415
    from pyrocco.datasets import make_noisy_biclusters  # noqa: PLC0415

    X = make_noisy_biclusters((200, 120), n_clusters=4, noise=10).X
    with tempfile.TemporaryDirectory() as folder:
        lines = [",".join(["name", *(f"c{j}" for j in range(X.shape[1]))])]
        lines += [",".join([f"r{i}", *map(str, row)]) for i, row in enumerate(X)]
        (Path(folder) / "file.csv").write_text("\n".join(lines))

        def command(output: str) -> None:
            if main(["fit", f"{folder}/file.csv", "-o", f"{folder}/{output}"]):
                raise RuntimeError("pyrocco fit failed")

        command("first")  # imports everything
        return Visits().during(lambda: command("second"))


def own_bases() -> list[str]:
    """Classes of pyrocco that `ROCCO` inherits from."""
    from pyrocco import ROCCO  # noqa: PLC0415

    return [c.__name__ for c in ROCCO.__mro__[1:] if c.__module__.startswith("pyrocco")]


def source_files() -> list[Path]:
    """All Python files of the package."""
    return sorted(SOURCE.rglob("*.py"))


def parameters() -> Iterator[ast.arg]:
    """Annotated parameters of all functions, without self and cls."""
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                spec = node.args
                both = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
                yield from (arg for arg in both if arg is not None and arg.annotation is not None)


def share_of_any() -> float:
    """Share of annotated parameters whose type is Any itself."""
    kinds = [ast.unparse(arg.annotation) for arg in parameters() if arg.annotation]
    return kinds.count("Any") / len(kinds)


def cpu_seconds(*command: str) -> float:
    """CPU seconds of a command, the least of five runs."""
    found = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def python_seconds(code: str) -> float:
    """CPU seconds of a Python program."""
    return cpu_seconds(sys.executable, "-c", code)


def start_up() -> dict[str, float]:
    """CPU seconds of programs that start and do nothing."""
    command = "import sys; from pyrocco.cli import main; sys.argv = ['pyrocco', '{}']; main()"
    return {
        "pyrocco --version": python_seconds(command.format("--version")),
        "pyrocco --help": python_seconds(command.format("--help")),
        "import pyrocco": python_seconds("import pyrocco"),
        "import pyrocco; pyrocco.ROCCO": python_seconds("import pyrocco; pyrocco.ROCCO"),
        "import sklearn.cluster": python_seconds("import sklearn.cluster"),
        "python -c pass": python_seconds("pass"),
    }


def measure() -> tuple[dict[str, float], dict[str, float]]:
    """All numbers of the table."""
    seconds = start_up()
    fit = fit_visits()
    numbers = {
        "fit_files": len(fit.files),
        "fit_depth": fit.deepest,
        "bases": len(own_bases()),
        "files": len(source_files()),
        "lines": sum(len(p.read_text(encoding="utf-8").splitlines()) for p in source_files()),
        "any": share_of_any(),
        "command_files": len(command_visits().files),
        "version_seconds": seconds["pyrocco --version"],
    }
    return numbers, seconds


def shown(name: str, value: float | None) -> str:
    """A number as the table has it."""
    if value is None:
        return ""
    if name == "any":
        return f"{value:.1%}"
    return f"{value:.2f}" if name == "version_seconds" else f"{value:,.0f}"


def page(numbers: dict[str, float], seconds: dict[str, float]) -> str:
    """The table, as Markdown."""
    lines = [
        "# The size of the code, and how much of it one fit uses",
        "",
        "Written by `python -m benchmarks.code_metrics`.",
        "",
        "| | 0.1.0 | target | now |",
        "| --- | --- | --- | --- |",
    ]
    for name, title in TITLES.items():
        cells = (*BEFORE[name], numbers[name])
        lines.append(f"| {title} | {' | '.join(shown(name, cell) for cell in cells)} |")
    lines += [
        "",
        "CPU seconds of starting (least of five runs):",
        "",
        "| | now |",
        "| --- | --- |",
    ]
    lines += [f"| `{name}` | {value:.2f} |" for name, value in seconds.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", help="do not write the page")
    parser.add_argument("--visited", action="store_true", help="list the files of one fit")
    options = parser.parse_args()
    if options.visited:
        fit = fit_visits()
        print(json.dumps(sorted(os.path.relpath(f, SOURCE) for f in fit.files), indent=1))
        return
    text = page(*measure())
    print(text)
    if not options.print:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
