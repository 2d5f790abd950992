"""Edits of .xlsx files: the XML of sheets, shared strings and the workbook."""

import random
import re
from functools import partial
from pathlib import Path

from tests.fuzz.mutations import damage, truncate

from .archives import choose_member, edit_archive, edit_member

_SHEET = "xl/worksheets/sheet1.xml"
_ENTITIES = b'<!DOCTYPE x [<!ENTITY a "ha">' + b"".join(
    b'<!ENTITY %c "&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;">' % (i + 1, *[i] * 10)
    for i in range(ord("a"), ord("i"))
)
_CELLS = (
    b'<c r="XFD1048576"><v>7</v></c>',
    b'<c r="XFE1048577"><v>7</v></c>',
    b'<c r="ZZZZZZ99999999999"><v>7</v></c>',
    b'<c r=""><v>7</v></c>',
    b'<c r="A0"><v>7</v></c>',
    b'<c r="7"><v>7</v></c>',
    b'<c t="s"><v>99999999</v></c>',
    b'<c t="s"><v>-1</v></c>',
    b'<c t="s"><v>x</v></c>',
    b'<c t="e"><v>#REF!</v></c>',
    b'<c t="e"><v>nonsense</v></c>',
    b'<c t="b"><v>7</v></c>',
    b'<c t="d"><v>2020-13-99</v></c>',
    b'<c t="n"><v>1e999</v></c>',
    b'<c t="n"><v>nan</v></c>',
    b'<c t="unknown"><v>7</v></c>',
    b'<c t="inlineStr"><is><t>&#27;[31m</t></is></c>',
    b'<c t="inlineStr"><is></is></c>',
    b'<c s="99999999"><v>7</v></c>',
    b'<c s="-1"><v>7</v></c>',
    b"<c><v></v></c>",
    b"<c><v>7</v><v>8</v></c>",
    b"<c><f>B2</f></c>",
    b'<c r="B2"><f t="shared" ref="A1:XFD1048576" si="0">B2+1</f><v>7</v></c>',
    b'<c r="B2"><f t="shared" si="7"/><v>7</v></c>',
    b'<c r="B2"><f t="array" ref="B2:B1">B2</f><v>7</v></c>',
)
_DIMENSIONS = (
    b"A1:XFD1048576",
    b"A1",
    b"",
    b"B2:A1",
    b"A1:",
    b"x",
    b"A1:ZZZZ99999999999",
    b"A0:A0",
)


def edit_excel(path: Path, rng: random.Random) -> None:
    """Change the sheet, another part or the archive of a workbook."""
    choice = rng.random()
    if choice < 0.55:
        edit_member(path, _SHEET, partial(_edit_sheet, rng=rng))
    elif choice < 0.8:
        member = choose_member(path, rng)
        edit_member(path, member, partial(_edit_xml, rng=rng))
    else:
        edit_archive(path, rng)


def _edit_sheet(xml: bytes, rng: random.Random) -> bytes:
    choice = rng.random()
    if choice < 0.5:
        cells = list(re.finditer(rb"<c [^>]*>.*?</c>", xml))
        cell = rng.choice(cells)
        return xml[: cell.start()] + rng.choice(_CELLS) + xml[cell.end() :]
    if choice < 0.65:
        return re.sub(
            rb'<dimension ref="[^"]*"', b'<dimension ref="' + rng.choice(_DIMENSIONS) + b'"', xml
        )
    if choice < 0.8:
        rows = list(re.finditer(rb'<row r="\d+"', xml))
        row, number = (
            rng.choice(rows),
            rng.choice((b"0", b"-1", b"1048577", b"99999999999", b"x", b"1")),
        )
        return xml[: row.start()] + b'<row r="' + number + b'"' + xml[row.end() :]
    return _edit_xml(xml, rng)


def _edit_xml(xml: bytes, rng: random.Random) -> bytes:
    """Damage any XML text."""
    tags = [match.start() for match in re.finditer(b"<", xml)]
    place = rng.choice(tags)
    numbers = list(re.finditer(rb'(?<=")\d+(?=")', xml)) or list(re.finditer(b"$", xml))
    number = rng.choice(numbers)
    value = rng.choice((b"0", b"-1", b"4294967296", b"99999999999999999999", b"x", b""))
    return rng.choice(
        (
            lambda: xml[:place] + xml[place + 1 :],
            lambda: xml[:place] + b"<unclosed>" + xml[place:],
            lambda: xml[:place] + b"</wrong>" + xml[place:],
            lambda: xml[:place] + b"&unknown;" + xml[place:],
            lambda: xml[:place] + b"<!--" + xml[place:],
            lambda: xml[:place] + b"<a>" * 50_000 + xml[place:],
            lambda: xml[:place] + b"\0\x1b[31m" + xml[place:],
            lambda: _ENTITIES + b"]>" + xml.replace(b"<v>", b"<v>&i;", 1),
            lambda: b'<?xml version="1.0" encoding="utf-16"?>' + xml,
            lambda: xml.decode().encode("utf-16"),
            lambda: xml[: number.start()] + value + xml[number.end() :],
            lambda: xml[: number.start()] + value + xml[number.end() :],
            lambda: b"",
            lambda: b"<a/>",
            lambda: damage(xml, rng),
            lambda: truncate(xml, rng),
        )
    )()
