"""Run cases: a warm process that forks for every command, and the judgement of what it did."""

import faulthandler
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from .cases import Case, build_case, copy_case
from .outcome import FINE, RAISED, Ended, judge, list_changes, take_snapshot
from .seeds import OUT, Command

DEADLINE = 30.0
MEMORY = 6 << 30
_OUTPUT_LIMIT = 20_000


@dataclass(frozen=True)
class Result:
    """What a command did with the input of a case."""

    case: str
    words: tuple[str, ...]
    outcome: str
    why: str
    seconds: float
    stdout: str = ""
    stderr: str = ""

    @property
    def is_fine(self) -> bool:
        return self.outcome in FINE


Task = Callable[[], int | None]


def run_forked(task: Task, folder: Path, output: Path, deadline: float = DEADLINE) -> Ended:
    """Run a task in a process of its own, in `folder`; stdout and stderr go to `output`."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _be_child(task, folder, output)
    with suppress(OSError):  # it has done so itself, or has ended
        os.setpgid(child, child)
    in_time = _wait(child, started + deadline)
    if not in_time:
        # Every thread says where it is.
        _signal_group(child, signal.SIGUSR1)
        _wait(child, time.monotonic() + 0.5)
    # The child is not reaped yet, so that the number of its group cannot be another one's.
    _signal_group(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    seconds = time.monotonic() - started
    if not in_time:
        return Ended(None, None, seconds)
    if os.WIFSIGNALED(status):
        return Ended(None, os.WTERMSIG(status), seconds)
    return Ended(os.WEXITSTATUS(status), None, seconds)


def _be_child(task: Task, folder: Path, output: Path) -> None:
    """Run the task in the forked process, which ends here."""
    code = RAISED
    try:
        os.setpgid(0, 0)
        _redirect(output)
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = str(output)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        faulthandler.enable(sys.__stderr__)
        faulthandler.register(signal.SIGUSR1, sys.__stderr__, all_threads=True)
        code = int(task() or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _redirect(output: Path) -> None:
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(output / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.closerange(3, 256)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def _wait(child: int, until: float) -> bool:
    """Wait for a child without reaping it; return whether it has ended."""
    pause = 0.001
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > until:
            return False
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)
    return True


def _signal_group(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child, number)


class Workbench:
    """Runs cases one after another, each in a folder that is removed afterwards.

    Parameters
    ----------
    seeds : Path
        Folder of the valid inputs.
    run : callable
        Runs the words of a command and returns its exit code.
    keep : Path, optional
        Folder for the inputs of cases that failed.
    deadline : float
        Seconds after which a command hangs.
    """

    def __init__(
        self,
        seeds: Path,
        run: Callable[[list[str]], int],
        keep: Path | None = None,
        deadline: float = DEADLINE,
    ):
        self.seeds, self.run, self.keep, self.deadline = seeds, run, keep, deadline

    def run_case(self, case: Case) -> Result:
        """Build the input of a case, run its command and judge it."""
        with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as place:
            folder = Path(place) / "case"
            command = self._build(case, folder, Path(place))
            result = self._run(case.name, command, folder, Path(place))
        if self.keep is not None and not result.is_fine:
            self._keep(case, command, result)
        return result

    def replay(self, kept: Path) -> Result:
        """Run a case that was kept again."""
        about = json.loads((kept / "case.json").read_text())
        command = Command(tuple(about["words"]), tuple(about["replaces"]))
        with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as place:
            folder = Path(place) / "case"
            copy_case(kept / "input", folder)
            return self._run(about["case"], command, folder, Path(place))

    def _build(self, case: Case, folder: Path, place: Path) -> Command:
        """Build the input in a process of its own, since libraries of formats start threads."""
        folder.mkdir(parents=True)
        note = place / "command.json"

        def build() -> None:
            command = build_case(case, self.seeds.absolute(), folder.absolute())
            note.write_text(json.dumps([command.words, command.replaces]))

        ended = run_forked(build, folder, place, 60.0)
        if ended.code != 0:
            reason = (place / "stderr").read_text(errors="replace")
            raise RuntimeError(f"{case.name}: the input could not be built: {ended}\n{reason}")
        words, replaces = json.loads(note.read_text())
        return Command(tuple(words), tuple(replaces))

    def _run(self, name: str, command: Command, folder: Path, place: Path) -> Result:
        before = take_snapshot(folder)
        ended = run_forked(lambda: self.run(list(command.words)), folder, place, self.deadline)
        stdout, stderr = (
            (place / stream).read_text(encoding="utf-8", errors="replace")
            for stream in ("stdout", "stderr")
        )
        changes = list_changes(before, take_snapshot(folder), command, ended.code, stderr)
        outcome, why = judge(ended, stdout, stderr, changes)
        # After a crash, Python lists all its extension modules on one line.
        stderr = stderr.partition("\nExtension modules: ")[0]
        tails = stdout[-_OUTPUT_LIMIT:], stderr[-_OUTPUT_LIMIT:]
        return Result(name, command.words, outcome, why, round(ended.seconds, 3), *tails)

    def _keep(self, case: Case, command: Command, result: Result) -> None:
        """Store the input of a case, as it was before the command, and what happened."""
        kept = self.keep / case.name
        shutil.rmtree(kept, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as place:
            self._build(case, kept / "input", Path(place))
        about = {**asdict(result), "replaces": command.replaces}
        (kept / "case.json").write_text(json.dumps(about, indent=1) + "\n")


def warm_up() -> Callable[[list[str]], int]:
    """Import what commands need, load compiled kernels, and return the command line.

    Nothing here may start threads that a forked process would wait for: Dask and zarr do when
    they are used.
    """
    import anndata  # noqa: PLC0415, F401 - only a worker needs these
    import dask.array  # noqa: PLC0415, F401
    import python_calamine  # noqa: PLC0415, F401
    import zarr  # noqa: PLC0415, F401

    from pyrocco.cli import main  # noqa: PLC0415

    from .seeds import frame  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        sys.stdout, kept = nowhere, sys.stdout
        table, out = f"{folder}/data.csv", f"{folder}/{OUT}"
        frame().to_csv(table)
        commands = (
            ["inspect", table],
            ["fit", table, "-o", out, "-q"],
            ["report", out, "-q"],
            ["predict", out, table, "-q"],
        )
        codes = [main(words) for words in commands]
        sys.stdout = kept
    if any(codes):
        raise RuntimeError("the commands do not work on a valid file")
    gc.freeze()  # forked processes then share the pages of what exists now
    return main


def serve(bench: Workbench, answers: IO[str]) -> None:
    """Read names of cases, or absolute paths of kept ones, from stdin; write their results."""
    for line in sys.stdin:
        request = line.rstrip("\n")
        is_kept = request.startswith("/")
        result = bench.replay(Path(request)) if is_kept else bench.run_case(Case.parse(request))
        answers.write(json.dumps(asdict(result)) + "\n")
        answers.flush()


def main(seeds: str, keep: str, deadline: str, command: str) -> None:
    """Serve until stdin ends.

    `command` is the function to run, as in ``package.module:function``; the command line of
    pyrocco if it is empty. `keep` may be empty, too.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what commands print must not be taken for an answer
    module, _, function = command.partition(":")
    run = getattr(importlib.import_module(module), function) if command else warm_up()
    serve(Workbench(Path(seeds), run, Path(keep) if keep else None, float(deadline)), answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
