"""Mutations that know a format: the file stays readable in part, but its content is wrong."""

import random
from pathlib import Path


def edit_structure(format: str, folder: Path, target: Path, rng: random.Random) -> None:
    """Change the file `target` of an input in `folder` in a way that suits its format."""
    data = bytearray(target.read_bytes())
    data[rng.randrange(len(data))] ^= 1
    target.write_bytes(data)
