"""Cases: a damaged input, determined by its format, the kind of mutation and a number."""

import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from .mutations import damage, replace, truncate
from .seeds import FORMATS, Command
from .structure import EDITS

KINDS = ("structure", "damaged", "truncated", "replaced")
# One kind per round: edits of the structure reach deepest, so they are the most frequent.
ROUNDS = (
    "structure",
    "damaged",
    "structure",
    "truncated",
    "structure",
    "replaced",
    "structure",
    "damaged",
)
# Numbers of the cases of one seed of a run.
CASES_PER_SEED = 10_000
BYSTANDER = "mine.txt"


@dataclass(frozen=True, order=True)
class Case:
    """One damaged input."""

    format: str
    kind: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.format}-{self.kind}-{self.number:06d}"

    @classmethod
    def parse(cls, name: str) -> "Case":
        format, kind, number = name.split("-")
        if format not in FORMATS or kind not in KINDS:
            raise ValueError(f"{name}: no such case")
        return cls(format, kind, int(number))


def all_cases(seed: int) -> Iterator[Case]:
    """Yield cases of all formats in turn, without end."""
    for number in count(seed * CASES_PER_SEED):
        for format in FORMATS:
            yield Case(format, ROUNDS[number % len(ROUNDS)], number)


def build_case(case: Case, seeds: Path, folder: Path) -> Command:
    """Write the input of a case to a folder, from the valid files in `seeds`."""
    rng = random.Random(case.name)
    samples = FORMATS[case.format]
    name = rng.choice(sorted(samples))
    sample = samples[name]
    command = rng.choice(sample.commands)
    shutil.copytree(seeds / case.format / name, folder, symlinks=True, dirs_exist_ok=True)
    (folder / BYSTANDER).write_text("This file belongs to someone else.\n")
    target = rng.choice(_targets(folder, sample.targets))
    if case.kind == "structure":
        EDITS[case.format](target, rng)
    elif case.kind == "replaced":
        others = sorted(path for path in seeds.rglob("*") if path.is_file())
        replace(target, others, rng)
    else:
        change = damage if case.kind == "damaged" else truncate
        target.write_bytes(change(target.read_bytes(), rng))
    return command


def copy_case(source: Path, folder: Path) -> None:
    """Copy an input, which may contain links that lead nowhere and pipes."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in sorted(source.iterdir()):
        copy = folder / entry.name
        if entry.is_symlink():
            copy.symlink_to(os.readlink(entry))
        elif entry.is_dir():
            copy_case(entry, copy)
            shutil.copymode(entry, copy)
        elif entry.is_fifo():
            os.mkfifo(copy)
        elif entry.is_file():
            copy.write_bytes(entry.read_bytes())
            shutil.copymode(entry, copy)


def _targets(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Files that a mutation may change, in an order that is always the same."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(found)
