"""Edits of a matrix in many files: one of them is damaged, or does not fit to the others."""

import random
import shutil
from pathlib import Path

from .stores import edit_parquet
from .text import edit_table


def edit_part(path: Path, rng: random.Random) -> None:
    """Change one of the files, or which files there are."""
    if rng.random() < 0.25:
        rng.choice(_FILE_EDITS)(path, rng)
    elif path.suffix == ".parquet":
        edit_parquet(path, rng)
    else:
        path.write_bytes(edit_table(path.read_bytes(), rng))


def _other_kind(path: Path, rng: random.Random) -> None:
    path.with_name("part-9" + path.suffix).write_text("a,b\n1,2\n")


def _folder(path: Path, rng: random.Random) -> None:
    path.with_name("part-9" + path.suffix).mkdir()


def _link(path: Path, rng: random.Random) -> None:
    name = rng.choice((path.name, "not-there", "part-9" + path.suffix, ".", "/dev/zero"))
    path.with_name("part-9" + path.suffix).symlink_to(name)


def _odd_name(path: Path, rng: random.Random) -> None:
    names = ("part-\x1b[31m", "part-\n", "part-" + "9" * 200, " ", "part-²", "[part]")
    shutil.copyfile(path, path.with_name(rng.choice(names) + path.suffix))


def _all_removed(path: Path, rng: random.Random) -> None:
    for part in path.parent.iterdir():
        part.unlink()


_FILE_EDITS = (_other_kind, _folder, _link, _odd_name, _all_removed)
