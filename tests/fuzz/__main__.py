"""Command line of the fuzz harness: ``python -m tests.fuzz``."""

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from .cases import Case, all_cases
from .pool import describe_failure, describe_table, group_failures, run_all
from .runner import DEADLINE, Result

_STEP = 10.0


class Progress:
    """Prints one line about the cases so far: on a terminal over and over, else now and then."""

    def __init__(self) -> None:
        self.started = self.printed = time.monotonic()

    def __call__(self, results: list[Result]) -> None:
        now, is_terminal = time.monotonic(), sys.stderr.isatty()
        if now - self.printed < (0.2 if is_terminal else _STEP):
            return
        self.printed = now
        failures = sum(not result.is_fine for result in results)
        seconds = now - self.started
        line = f"{len(results)} cases in {seconds:.0f} s, {failures} failures"
        print(line, end="\r" if is_terminal else "\n", file=sys.stderr, flush=True)


def parse_arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--cases", type=int, help="stop after this number of cases")
    parser.add_argument("--seed", type=int, default=0, help="other cases for every seed")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--formats", nargs="+", help="only these formats")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), metavar="FOLDER")
    parser.add_argument("--deadline", type=float, default=DEADLINE, help="seconds of one case")
    parser.add_argument(
        "--replay", nargs="+", metavar="PATH", help="kept cases, folders of them, or case names"
    )
    arguments = parser.parse_args(words)
    if arguments.seconds is None and arguments.cases is None and arguments.replay is None:
        parser.error("say when to stop, with --seconds or --cases")
    return arguments


def find_kept(names: list[str]) -> Iterator[str]:
    """Yield absolute paths of kept cases, and names of cases that are built again."""
    for name in names:
        path = Path(name)
        found = sorted(path.rglob("case.json")) if path.is_dir() else []
        if path.name == "case.json":
            found = [path]
        if found:
            yield from (str(note.parent.absolute()) for note in found)
        else:
            yield Case.parse(name).name


def requests_of(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.replay is not None:
        return find_kept(arguments.replay)
    formats = arguments.formats
    cases = (case for case in all_cases(arguments.seed) if not formats or case.format in formats)
    return (case.name for case in islice(cases, arguments.cases))


def main(words: list[str] | None = None) -> int:
    """Run cases and print what failed; the exit code is 1 if anything did."""
    arguments = parse_arguments(words)
    started = time.monotonic()
    results = run_all(
        requests_of(arguments),
        jobs=arguments.jobs,
        keep=None if arguments.replay is not None else arguments.keep,
        seconds=float("inf") if arguments.seconds is None else arguments.seconds,
        deadline=arguments.deadline,
        watch=Progress(),
    )
    groups = group_failures(results)
    for group in groups:
        others = " ".join(result.case for result in group[1:6])
        print(describe_failure(group[0]), f"    ({len(group)} cases) {others}", sep="\n")
    print(describe_table(results))
    failures, seconds = sum(map(len, groups)), time.monotonic() - started
    print(f"{len(results)} cases in {seconds:.0f} s, {failures} failures of {len(groups)} kinds")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
