"""Small pieces of HTML; every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["pairs", "paragraphs", "table"]


def paragraphs(lines: Iterable[str]) -> str:
    """List sentences.

    Parameters
    ----------
    lines : iterable of str
        Plain text.

    Returns
    -------
    str
        HTML; empty where there is no line.

    Examples
    --------
    >>> paragraphs(["a < b"])
    '<ul><li>a &lt; b</li></ul>'
    """
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def pairs(entries: Iterable[tuple[str, str]]) -> str:
    """Names and what they stand for.

    Parameters
    ----------
    entries : iterable of pairs of str
        Plain text.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> pairs([("rows", "4")])
    '<dl><div><dt>rows</dt><dd>4</dd></div></dl>'
    """
    items = (f"<div><dt>{escape(a)}</dt><dd>{escape(b)}</dd></div>" for a, b in entries)
    return f"<dl>{''.join(items)}</dl>"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> str:
    """A table.

    Parameters
    ----------
    titles : sequence of str
        Above the columns.
    rows : iterable of sequences of str
        Plain text.
    numbers : bool, default=False
        Whether to set it flush right.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "<td>1 &lt; 2</td>" in table(["a"], [["1 < 2"]])
    True
    """
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    lines = (f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    kind = ' class="numbers"' if numbers else ""
    return f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
