"""Mutations that suit every format: cut off, damaged bytes, another file in its place."""

import os
import random
import shutil
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

# What begins the parts of common containers: zip, HDF5, Parquet, gzip, NumPy, XML, lines.
SIGNATURES = (
    *(b"PK\1\2", b"PK\3\4", b"PK\5\6", b"\x89HDF", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"OHDR"),
    *(b"PAR1", b"\x1f\x8b", b"\x93NUMPY", b"<row", b"</", b"\n", b","),
)
INTEGERS = (0, 1, -1, 127, 255, 2**15, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**63 - 1)

Bytes = Callable[[bytes, random.Random], bytes]


def truncate(data: bytes, rng: random.Random) -> bytes:
    """Cut data off at a random place, or where a part of the file begins or ends."""
    places = [1, 2, 4, 8, 16, len(data) // 2, len(data) - 1, len(data) - 4, len(data) - 8]
    places += [rng.randrange(1, len(data)) for _ in places]
    places += [place + rng.choice((0, 1, 4)) for place in signature_places(data)[:50]]
    cut = data[: max(1, min(rng.choice(places), len(data) - 1))]
    # Sometimes the file keeps its size, as after a crash of the machine.
    return cut + bytes(len(data) - len(cut)) if rng.random() < 0.2 else cut


def signature_places(data: bytes) -> list[int]:
    """Return where known parts begin, a few of each kind."""
    places = []
    for signature in SIGNATURES:
        start = data.find(signature)
        while start >= 0 and len(places) < 200:
            places.append(start)
            start = data.find(signature, start + max(1, len(data) // 20))
    return places


def damage(data: bytes, rng: random.Random) -> bytes:
    """Change bytes in one way, or in several."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        data = rng.choice(DAMAGES)(data, rng) or b"\0"
    return data


def _place(data: bytes, rng: random.Random) -> int:
    """Choose a place; headers and the first bytes of parts are chosen often."""
    choice = rng.random()
    if choice < 0.3:
        return rng.randrange(min(len(data), 256))
    if choice < 0.6:
        near = rng.choice(signature_places(data) or [0]) + rng.randrange(32)
        return min(near, len(data) - 1)
    return rng.randrange(len(data))


def _block(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + rng.choice((1, 2, 4, 8, 64, 512, 4096)))


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        changed[_place(data, rng)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def replace_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 8, 64))):
        changed[_place(data, rng)] = rng.choice((0, 0xFF, 0x7F, 0x1B, rng.randrange(256)))
    return bytes(changed)


def set_integer(data: bytes, rng: random.Random) -> bytes:
    """Overwrite a number of 2, 4 or 8 bytes, as sizes and offsets are stored."""
    size = rng.choice((2, 4, 8))
    start = _place(data, rng)
    value = struct.pack("<q", rng.choice(INTEGERS))[:size]
    return data[:start] + value + data[start + size :]


def zero_block(data: bytes, rng: random.Random) -> bytes:
    start, stop = _block(data, rng)
    return data[:start] + bytes(stop - start) + data[stop:]


def delete_block(data: bytes, rng: random.Random) -> bytes:
    start, stop = _block(data, rng)
    return data[:start] + data[stop:]


def duplicate_block(data: bytes, rng: random.Random) -> bytes:
    start, stop = _block(data, rng)
    return data[:stop] + data[start:stop] * rng.choice((1, 2, 50)) + data[stop:]


def insert_block(data: bytes, rng: random.Random) -> bytes:
    start = _place(data, rng)
    return data[:start] + rng.randbytes(rng.choice((1, 3, 16, 300))) + data[start:]


def swap_blocks(data: bytes, rng: random.Random) -> bytes:
    size = rng.choice((1, 4, 16, 128))
    first, second = sorted(_place(data, rng) for _ in range(2))
    first_end = min(first + size, second)
    return (
        data[:first]
        + data[second : second + size]
        + data[first_end:second]
        + data[first:first_end]
        + data[second + size :]
    )


DAMAGES: tuple[Bytes, ...] = (
    flip_bits,
    replace_bytes,
    set_integer,
    zero_block,
    delete_block,
    duplicate_block,
    insert_block,
    swap_blocks,
)


def replace(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    """Put something else in place of a file; `others` are files of other formats."""
    path.unlink()
    rng.choice(REPLACEMENTS)(path, others, rng)


def _fifo(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    os.mkfifo(path)


def _device(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    path.symlink_to(rng.choice(("/dev/zero", "/dev/null", "/dev/full", "/dev/tty")))


def _folder(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    path.mkdir()
    if rng.random() < 0.5:
        (path / "mine.txt").write_text("1,2\n3,4\n")


def _link_to_itself(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    if rng.random() < 0.5:
        path.symlink_to(path.name)
        return
    path.symlink_to("other-link")
    path.with_name("other-link").symlink_to(path.name)


def _broken_link(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    path.symlink_to("not-there" + path.suffix)


def _link_to_folder(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    path.symlink_to(rng.choice((".", "..", "/proc/self/fd")))


def _unreadable(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    shutil.copyfile(rng.choice(others), path)
    path.chmod(0)  # has no effect on root


def _empty(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    path.write_bytes(rng.choice((b"", b"\0", b"\n", b" \n\n", b"\xef\xbb\xbf")))


def _missing(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    """The file is not there."""


def _other_format(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    shutil.copyfile(rng.choice(others), path)


def _noise(path: Path, others: Sequence[Path], rng: random.Random) -> None:
    path.write_bytes(rng.randbytes(rng.choice((10, 1000, 100_000))))


REPLACEMENTS = (
    _fifo,
    _device,
    _device,
    _folder,
    _link_to_itself,
    _broken_link,
    _link_to_folder,
    _unreadable,
    _empty,
    _missing,
    _other_format,
    _other_format,
    _other_format,
    _noise,
)
