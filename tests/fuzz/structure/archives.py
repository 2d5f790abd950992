"""Edits of zip archives: .npz and model files, and the shell of .xlsx files."""

import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.fuzz.mutations import INTEGERS, damage, truncate
from tests.fuzz.seeds import array_bytes, read_zip, write_zip

from .arrays import edit_npy

Members = list[tuple[str, bytes]]
# Size of what a small file unpacks to.
_BOMB = 64 << 20
# Where fields lie behind the signature of an entry of the central directory: offset and size.
_CENTRAL = {"method": (10, 2), "flags": (8, 2), "crc": (16, 4), "packed": (20, 4), "size": (24, 4)}
_CENTRAL |= {"name length": (28, 2), "extra length": (30, 2), "offset": (42, 4)}
_LOCAL = {"method": (8, 2), "flags": (6, 2), "crc": (14, 4), "packed": (18, 4), "size": (22, 4)}
_LOCAL |= {"name length": (26, 2), "extra length": (28, 2)}
_END = {"entries": (8, 2), "all entries": (10, 2), "size": (12, 4), "offset": (16, 4)}
_PARTS = {b"PK\1\2": _CENTRAL, b"PK\3\4": _LOCAL, b"PK\5\6": _END}


def edit_archive(path: Path, rng: random.Random) -> None:
    """Change headers of members, or which members there are."""
    if rng.random() < 0.5:
        path.write_bytes(edit_headers(path.read_bytes(), rng))
    else:
        edit_members(path, rng)


def edit_headers(data: bytes, rng: random.Random) -> bytes:
    """Set a field of a header: unknown method, encrypted, wrong size or checksum."""
    signature = rng.choice((b"PK\1\2", b"PK\1\2", b"PK\3\4", b"PK\5\6"))
    starts = [i for i in range(len(data) - 3) if data[i : i + 4] == signature]
    start = rng.choice(starts)
    field = rng.choice(sorted(_PARTS[signature]))
    offset, size = _PARTS[signature][field]
    choices = {"method": (1, 6, 8, 9, 12, 14, 93, 95, 99, 65535), "flags": (1, 8, 64, 2048, 8193)}
    value = rng.choice(choices.get(field, INTEGERS)) % 256**size
    place = start + offset
    return data[:place] + value.to_bytes(size, "little") + data[place + size :]


def edit_members(path: Path, rng: random.Random) -> None:
    """Remove, add, rename, repeat or damage members; checksums are right."""
    members = read_zip(path)
    members = rng.choice(_MEMBER_EDITS)(members, rng)
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    is_large = sum(len(data) for _, data in members) >= _BOMB
    write_zip(path, members, zipfile.ZIP_DEFLATED if is_large else rng.choice(methods))


def edit_member(path: Path, name: str, edit: Callable[[bytes], bytes]) -> None:
    """Change the content of one member; its size and checksum are right."""
    members = [(n, edit(data) if n == name else data) for n, data in read_zip(path)]
    write_zip(path, members, zipfile.ZIP_DEFLATED)


def choose_member(path: Path, rng: random.Random, ending: str = "") -> str:
    """Return the name of a member."""
    with zipfile.ZipFile(path) as archive:
        return rng.choice([name for name in archive.namelist() if name.endswith(ending)])


def _remove(members: Members, rng: random.Random) -> Members:
    chosen = rng.randrange(len(members))
    return members[:chosen] + members[chosen + 1 :]


def _repeat(members: Members, rng: random.Random) -> Members:
    name, data = rng.choice(members)
    return [*members, (name, damage(data, rng) if rng.random() < 0.5 else data)]


def _rename(members: Members, rng: random.Random) -> Members:
    names = (
        "../../escaped.npy",
        "/tmp/escaped.npy",
        "C:\\escaped.npy",
        "\x1b[31mred.npy",
        "é.npy",
    )
    names += ("", "a" * 5000 + ".npy", "X", "file", "X.npy/", "arrays/0.npy", "a\nb.npy")
    chosen = rng.randrange(len(members))
    renamed = (rng.choice(names), members[chosen][1])
    return [*members[:chosen], renamed, *members[chosen + 1 :]]


def _swap(members: Members, rng: random.Random) -> Members:
    """Give the contents of members to other members."""
    contents = [data for _, data in members]
    rng.shuffle(contents)
    return [(name, data) for (name, _), data in zip(members, contents, strict=True)]


def _damage_one(members: Members, rng: random.Random) -> Members:
    change = rng.choice((damage, truncate))
    chosen = rng.randrange(len(members))
    name, data = members[chosen]
    changed = change(data, rng) if len(data) > 1 else b"\0"
    return [*members[:chosen], (name, changed), *members[chosen + 1 :]]


def _bomb(members: Members, rng: random.Random) -> Members:
    """A member that unpacks to much more than the file's size."""
    if rng.random() < 0.5:
        return [*members, ("bomb.npy", array_bytes(np.zeros(_BOMB // 8)))]
    chosen = rng.randrange(len(members))
    name, data = members[chosen]
    return [*members[:chosen], (name, data + bytes(_BOMB)), *members[chosen + 1 :]]


def _none(members: Members, rng: random.Random) -> Members:
    return []


def _many(members: Members, rng: random.Random) -> Members:
    return [*members, *((f"more/{i}.npy", array_bytes(np.zeros(2))) for i in range(3000))]


_MEMBER_EDITS = (_remove, _repeat, _rename, _swap, _damage_one, _damage_one, _bomb, _none, _many)


def edit_npz(path: Path, rng: random.Random) -> None:
    """Change an array of an archive, or the archive."""
    if rng.random() < 0.4:
        edit_archive(path, rng)
        return
    name = choose_member(path, rng)
    edit_member(path, name, lambda data: edit_npy(data, rng))


def edit_sparse_npz(path: Path, rng: random.Random) -> None:
    """Change indices, pointers, shape or format of a sparse matrix."""
    if rng.random() < 0.2:
        edit_archive(path, rng)
        return
    arrays = dict(read_zip(path))
    special = {
        "format.npy": (b"csr", b"csc", b"coo", b"bsr", b"dia", b"lil", b"", b"x", "csr", 7, None),
        "shape.npy": (
            *((24, 15), (15, 24), (-1, 15), (24,), (24, 15, 1), (0, 0), (2**40, 2**40)),
            *((24.5, 15.0), (2**31, 15), (24, 2**31), (10**6, 10**6), (1, 1), (np.nan, 3)),
        ),
    }
    name = rng.choice(sorted(arrays))
    if name in special and rng.random() < 0.8:
        value = rng.choice(special[name])
        edited = array_bytes(np.array(0 if value is None else value))
    else:
        edited = edit_npy(arrays[name], rng)
    write_zip(path, list((arrays | {name: edited}).items()), zipfile.ZIP_DEFLATED)
