"""Edits of text tables and of Matrix Market files."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.mutations import damage

Lines = list[bytes]

# Cells and names that are wrong, or look like something else.
_CELLS = (
    *(b"", b" ", b"x", b"NA", b"nan", b"-inf", b"Infinity", b"1e999", b"-1e999", b"1e-999", b"4E"),
    *(b"1" * 400, b"0x1f", b"1_000", b"1,5", b"1.5.5", b"--1", b"+", b"1e", b"e5", b"\xd9\xa3"),
    *(b"\x1b[31m7\x1b[0m", b"\0", b"7\0", b'"', b'"7', b'7"', b'""', b'"7\n7"', b"'7'", b"=1+1"),
    *(b"\xff", b"\xc3", b"\xef\xbb\xbf7", b"\r", b"7\r8", b"1e308", b"1.7976931348623159e308"),
    *(b"TRUE", b"2020-01-01", b"\xe2\x80\xae7", b"\x9b31m", b"\x07", b"\x85", b"\xe2\x80\xa8"),
)
_HEADS = (
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
    b"#",
    b"# comment\n",
    b"\n\n\n",
    b"#1.2\n24\t15\n",
)


def edit_table(text: bytes, rng: random.Random) -> bytes:
    """Change cells, lines, encoding or quotation marks of a text table."""
    for _ in range(rng.choice((1, 1, 2))):
        text = rng.choice(_TABLE_EDITS)(text, rng)
    return text


def edit_text_file(path: Path, rng: random.Random, edit: Callable) -> None:
    """Edit a text file that may be compressed; the checksum of a compressed one is right."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        path.write_bytes(_edit_gzip(data, rng, edit))
    else:
        path.write_bytes(edit(data, rng))


def _edit_gzip(data: bytes, rng: random.Random, edit: Callable) -> bytes:
    text, choice = gzip.decompress(data), rng.random()
    if choice < 0.7:
        return gzip.compress(edit(text, rng), mtime=0)
    return rng.choice(
        (
            lambda: data + data,
            lambda: data + b"trailing garbage",
            lambda: data + b"\0" * 512,
            lambda: data[:-8] + b"\0" * 8,
            lambda: text,
            lambda: gzip.compress(data, mtime=0),
            lambda: gzip.compress(b"", mtime=0),
            lambda: gzip.compress(text + b"\n" * (64 << 20), mtime=0),
            # More columns can be read, but a fit of them takes longer than a case may.
            lambda: gzip.compress(b"7," * 60_000, mtime=0),
            lambda: gzip.compress(b"\0" * (64 << 20), mtime=0),
        )
    )()


def _cells(text: bytes, rng: random.Random) -> bytes:
    """Replace a cell: a name, a heading or a number."""
    lines = text.split(b"\n")
    row = rng.choice((0, rng.randrange(len(lines)), rng.randrange(len(lines))))
    sign = _separator(text)
    cells = lines[row].split(sign)
    cells[rng.randrange(len(cells))] = rng.choice(_CELLS)
    lines[row] = sign.join(cells)
    return b"\n".join(lines)


def _separator(text: bytes) -> bytes:
    return max((b",", b"\t", b";"), key=text.count)


def _column(text: bytes, rng: random.Random) -> bytes:
    """Replace a whole column."""
    sign, place, cell = _separator(text), rng.randrange(4), rng.choice(_CELLS)
    lines = [line.split(sign) for line in text.split(b"\n")]
    for cells in lines:
        if place < len(cells):
            cells[place] = cell
    return b"\n".join(sign.join(cells) for cells in lines)


def _lines(text: bytes, rng: random.Random) -> bytes:
    """Remove, repeat, shorten, lengthen or move a line."""
    lines = text.split(b"\n")
    row, sign = rng.randrange(len(lines)), _separator(text)
    line = lines[row]
    choices: tuple[Lines, ...] = (
        [],
        [line, line],
        [line[: len(line) // 2]],
        [line + sign + b"7"],
        [line + sign * 5000],
        [line.replace(sign, sign * 2, 1)],
        [line.rpartition(sign)[0]],
        [b"", line, b" \t "],
        [line * 500],
        [line.replace(sign, rng.choice((b";", b"\t", b",", b"|", b" ")))],
    )
    return b"\n".join([*lines[:row], *rng.choice(choices), *lines[row + 1 :]])


def _whole(text: bytes, rng: random.Random) -> bytes:
    """Change the whole text: line ends, encoding, beginning, size."""
    words = text.decode("utf-8", "replace")
    utf16 = words.encode("utf-16")
    sign = _separator(text)
    first = text.split(b"\n")[0]
    return rng.choice(
        (
            lambda: text.replace(b"\n", b"\r"),
            lambda: text.replace(b"\n", b"\r\n", 5),
            lambda: text.replace(b"\n", b""),
            lambda: text.replace(sign, b"|"),
            lambda: rng.choice(_HEADS) + text,
            lambda: utf16,
            lambda: utf16[: len(utf16) // 2 | 1],
            lambda: words.encode("utf-16-be"),
            lambda: words.encode("utf-32"),
            lambda: text + b'"',
            lambda: b'"' + text,
            lambda: text + b"\x1a",
            lambda: text + b"\0" * 600,
            lambda: first,
            lambda: first + b"\n",
            lambda: first + b"\n" + b"x" * 3_000_000,
            lambda: sign.join([b"7"] * 8000) + b"\n" + sign.join([b"8"] * 8000),
            lambda: b"x" * 200_000 + sign + text,
            lambda: b"7" * 2_000_000,
            lambda: b"\n" * 500_000,
            lambda: sign * 200_000,
            lambda: (b'"' * 99_999) + b"\n" + text,
            lambda: text.replace(b"sample", b"\x1b[31m"),
            lambda: text.replace(b"gene", b"\x1b]0;owned\x07"),
            lambda: text.replace(b"sample1", b"sample0"),
            lambda: text.replace(b".", b","),
            lambda: text.replace(b"\n", b"\n#"),
        )
    )()


_TABLE_EDITS = (_cells, _cells, _cells, _column, _lines, _lines, _whole, _whole, damage)

_MARKET_HEADS = (
    *(b"coordinate real symmetric", b"coordinate real skew-symmetric", b"array real symmetric"),
    *(b"coordinate complex hermitian", b"coordinate pattern general", b"array pattern general"),
    *(b"coordinate complex general", b"array complex general", b"array integer general"),
    *(
        b"coordinate integer general",
        b"coordinate unsigned-integer general",
        b"vector real general",
    ),
    *(b"coordinate real", b"", b"coordinate real general extra", b"array real skew-symmetric"),
    *(b"coordinate text general", b"coordinate pattern skew-symmetric", b"array real hermitian"),
)
_SIZES = (
    *(b"0 0 0", b"-1 15 3", b"24 15 -1", b"24 15", b"24 15 3 4", b"24 15 99999", b"24 15 1", b""),
    *(
        b"15 24 185",
        b"1000000000000 15 3",
        b"24 99999999999999999999 3",
        b"2147483648 2147483648 3",
    ),
    *(b"24 15 9223372036854775807", b"100000 100000 3", b"4294967296 4294967296 2", b"a b c"),
    *(
        b"24.0 15.0 3.0",
        b"1000000 1000000",
        b"0 15",
        b"24 0",
        b"3037000500 3037000500",
        b"24 15\n%x",
    ),
)
_ENTRIES = (
    *(
        b"0 1 5",
        b"1 0 5",
        b"-1 1 5",
        b"25 1 5",
        b"1 16 5",
        b"1 1",
        b"1",
        b"",
        b"1 1 5 5",
        b"a b c",
    ),
    *(b"99999999999999999999 1 5", b"2147483648 1 5", b"1 1 nan", b"1 1 inf", b"1 1 1e999", b"4E"),
    *(
        b"1 1 4E",
        b"1 1 4e+",
        b"1.5 1 5",
        b"1 1 0x5",
        b"1 1 5\0",
        b"% comment",
        b"1\t1\t5",
        b"1,1,5",
    ),
    *(b"1 1 \x1b[31m", b"1 1 1 1", b"nan", b"-", b"1e", b"1e400", b"." * 5000, b"1" * 5000),
)


def edit_market(text: bytes, rng: random.Random) -> bytes:
    """Change the header, the sizes or the entries of a Matrix Market file."""
    lines = text.split(b"\n")
    size = next((i for i, line in enumerate(lines) if i and not line.startswith(b"%")), 0)
    place, choice = rng.randrange(len(lines)), rng.random()
    if choice < 0.2:
        lines[0] = b"%%MatrixMarket matrix " + rng.choice(_MARKET_HEADS)
    elif choice < 0.3:
        lines[0] = damage(lines[0] or b"%", rng).replace(b"\n", b" ")
    elif choice < 0.5:
        lines[size] = rng.choice(_SIZES)
    elif choice < 0.8:
        lines[max(place, size + 1) % len(lines)] = rng.choice(_ENTRIES)
    elif choice < 0.85:
        lines[-1:] = [rng.choice((b"4E", b"1 1 4E", b"-", b"1e+", b"1 1"))]
    elif choice < 0.9:
        lines[size + 1 : size + 1] = rng.choice(([b"%"] * 9, [b""] * 9, lines[size : size + 1]))
    elif choice < 0.95:
        return text.replace(b"\n", rng.choice((b"\r", b"\r\n", b" ", b"\n\n")))
    else:
        del lines[place]
    return b"\n".join(lines)


_NAME_LINES = (b"", b"\t", b"a", b"a\tb\tc\td\te", b"\x1b[31m\t\x1b[0m", b"\0", b"\xff\xfe", b'"a')


def edit_names(text: bytes, rng: random.Random) -> bytes:
    """Change the lines of a file of names."""
    lines = text.split(b"\n")
    place = rng.randrange(len(lines))
    lines[place : place + 1] = rng.choice(
        ([], [rng.choice(_NAME_LINES)], [rng.choice(_NAME_LINES)], lines, [lines[place]] * 2)
    )
    return b"\n".join(lines) if rng.random() < 0.8 else edit_table(text, rng)
