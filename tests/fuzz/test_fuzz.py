"""Damaged files of every format end in results or in one clear line; the harness sees the rest."""

import json
import os
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from .__main__ import find_kept
from .cases import KINDS, Case, all_cases, build_case, copy_case
from .faulty import COMMANDS
from .outcome import take_snapshot
from .pool import Worker, describe_failure, describe_table, group_failures, run_all, write_seeds
from .runner import Result
from .seeds import FORMATS

# Tests run on two processes in CI: there, one more is enough.
JOBS = 1 if "PYTEST_XDIST_WORKER" in os.environ else 2
FIXED = [case.name for case in islice(all_cases(seed=0), 300)]
FAULTS = {
    "work": "read",
    "write results": "read",
    "refuse": "clear error",
    "use memory": "clear error",
    "crash": "crash",
    "hang": "hang",
    "raise": "traceback",
    "unexpected": "traceback",
    "change": "file changed",
    "remove": "file changed",
    "leave": "file changed",
    "leave results": "file changed",
    "escape": "control characters",
    "silent": "wrong exit",
    "twice": "wrong exit",
    "other code": "wrong exit",
    "internal": "unclear error",
    "class": "unclear error",
}


@pytest.fixture(scope="module", name="seeds")
def write_seeds_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    write_seeds(folder)
    return folder


@pytest.fixture(scope="module", name="faulty")
def start_faulty(tmp_path_factory, seeds):
    """A worker whose command fails, and the folder of what it keeps."""
    keep = tmp_path_factory.mktemp("kept")
    worker = Worker(seeds, keep, deadline=3.0, command="tests.fuzz.faulty:main")
    yield worker, keep
    worker.stop()


def write_kept(folder, word):
    (folder / "input").mkdir()
    for name in ("data.csv", "mine.txt"):
        (folder / "input" / name).write_text("a,b\n1,2\n")
    about = {"case": "csv-damaged-000001", "words": [word], "replaces": []}
    (folder / "case.json").write_text(json.dumps(about))


@pytest.mark.slow
def test_damaged_files_give_results_or_a_clear_error():
    results = run_all(FIXED, jobs=JOBS)
    assert len(results) == len(FIXED)
    failures = [describe_failure(result) for result in results if not result.is_fine]
    if failures:
        pytest.fail("\n".join([*failures, describe_table(results)]), pytrace=False)


def test_fixed_cases_are_of_all_formats_and_kinds():
    cases = [Case.parse(name) for name in FIXED]
    assert len(set(cases)) == 300
    for format in FORMATS:
        assert {case.kind for case in cases if case.format == format} == set(KINDS)


def test_every_fault_is_tested():
    assert FAULTS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("word", FAULTS)
def test_faults_are_noticed(word, faulty, tmp_path):
    write_kept(tmp_path, word)
    result = faulty[0].run(str(tmp_path))
    assert result.outcome == FAULTS[word], result


def test_processes_of_a_command_that_hangs_are_ended(faulty, tmp_path):
    write_kept(tmp_path, "hang")
    result = faulty[0].run(str(tmp_path))
    assert result.seconds < 10
    assert "faulty.py" in result.stderr  # where it hung
    (other,) = re.findall(r"started (\d+)", result.stderr)
    state = subprocess.run(["ps", "-o", "stat=", "-p", other], capture_output=True, check=False)
    assert state.stdout.strip()[:1] in (b"", b"Z")  # gone, or not yet reaped


@pytest.mark.parametrize(
    "name", ["csv-structure-000001", "npy-replaced-000005", "zarr-damaged-000001"]
)
def test_failures_are_kept_and_replayed(name, faulty, seeds, tmp_path):
    worker, keep = faulty
    first = worker.run(name)
    assert first.outcome == "traceback"
    assert "KeyError" in first.why
    build_case(Case.parse(name), seeds, tmp_path)
    assert take_snapshot(keep / name / "input") == take_snapshot(tmp_path)
    (found,) = find_kept([str(keep / name)])
    again = worker.run(found)
    assert (again.case, again.words) == (first.case, first.words)
    assert (again.outcome, again.why) == (first.outcome, first.why)


def test_find_kept_takes_folders_and_names(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_kept(tmp_path / name, "work")
    found = [str(tmp_path / name) for name in ("a", "b")]
    assert list(find_kept([str(tmp_path)])) == found
    assert list(find_kept([str(tmp_path / "b" / "case.json")])) == found[1:]
    assert list(find_kept(["mtx.gz-truncated-000007"])) == ["mtx.gz-truncated-000007"]
    with pytest.raises(ValueError, match="nothing-here-1: no such case"):
        list(find_kept(["nothing-here-1"]))


# Prints what a case consists of.
BUILD = """
import sys
from itertools import islice
from pathlib import Path
from tests.fuzz.cases import all_cases, build_case
from tests.fuzz.outcome import take_snapshot
for case in islice(all_cases(seed=3), 160):
    folder = Path(sys.argv[2]) / case.name
    folder.mkdir(parents=True)
    command = build_case(case, Path(sys.argv[1]), folder)
    print(case.name, command, sorted(take_snapshot(folder).items()))
"""


def test_cases_are_the_same_in_every_process(seeds, tmp_path):
    built = []
    for hash_seed in ("1", "2"):
        words = [sys.executable, "-W", "ignore", "-c", BUILD, seeds, tmp_path / hash_seed]
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        root = Path(__file__).parents[2]
        built.append(
            subprocess.run(words, env=env, cwd=root, capture_output=True, check=True).stdout
        )
    assert built[0] == built[1]
    assert built[0].count(b"\n") == 160


@pytest.mark.slow
def test_seeds_are_the_same_in_every_process(seeds, tmp_path):
    write_seeds(tmp_path)
    assert take_snapshot(tmp_path) == take_snapshot(seeds)


def test_every_mutation_of_a_sample_changes_it(seeds, tmp_path):
    """Few mutations may leave the file as it was, such as a swap of equal blocks."""
    same = 0
    for case in islice(all_cases(seed=4), 160):
        folder = tmp_path / case.name
        folder.mkdir()
        build_case(case, seeds, folder)
        content = take_snapshot(folder)
        del content["mine.txt"]
        samples = [take_snapshot(sample) for sample in (seeds / case.format).iterdir()]
        same += content in samples
    assert same < 12


def test_copies_of_cases_keep_links_and_pipes(tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "folder").mkdir(parents=True)
    (source / "folder" / "file").write_bytes(b"\0")
    (source / "link").symlink_to("link")
    os.mkfifo(source / "pipe")
    copy_case(source, copy)
    assert take_snapshot(copy) == take_snapshot(source)


def test_failures_with_one_cause_are_grouped():
    lines = 'File "/pyrocco/io/arrays.py", line 7\nValueError: {} rows'
    results = [
        Result(
            f"npy-damaged-{i}", (), "traceback", f"ValueError: {i} rows", 0.1, "", lines.format(i)
        )
        for i in range(3)
    ]
    crash = Result("npy-damaged-000009", (), "crash", "SIGSEGV", 0.1)
    fine = Result("npy-damaged-000010", (), "read", "", 0.1)
    assert group_failures([*results, crash, fine]) == [[crash], results]
    assert describe_table([crash, fine]).splitlines()[-1].split()[:4] == ["all", "1", "0", "1"]


def test_descriptions_of_failures_show_control_characters():
    result = Result(
        "csv-damaged-000001", ("inspect",), "crash", "", 0.1, "", "pyrocco: \x1b[31m\n"
    )
    assert "pyrocco: \\x1b[31m" in describe_failure(result)
