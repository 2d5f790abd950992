"""Edits of pyrocco's own files: models, checkpoints and summaries."""

import random
from functools import partial
from pathlib import Path

from tests.model_files import repair_digest

from .archives import choose_member, edit_archive, edit_member
from .arrays import edit_npy
from .json_text import edit_json

_TEXT = "model.json"


def edit_model(path: Path, rng: random.Random) -> None:
    """Change the JSON text, an array or the archive of a model file."""
    choice = rng.random()
    if choice < 0.55:
        edit_member(path, _TEXT, partial(edit_json, rng=rng))
    elif choice < 0.85:
        edit_member(path, choose_member(path, rng, ".npy"), partial(edit_npy, rng=rng))
    else:
        edit_archive(path, rng)
    if choice < 0.75:
        repair_digest(path)


def edit_summary(path: Path, rng: random.Random) -> None:
    """Change the JSON text of a summary."""
    path.write_bytes(edit_json(path.read_bytes(), rng))
