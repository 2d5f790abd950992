"""Messages of the commands in the words of the page, which has no options but fields."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["plain"]

# What the fields of the page are called.
_FIELDS = {
    "--row-names none": '"No column" as row names',
    "--row-names COLUMN": '"Row names"',
    "--row-names": '"Row names"',
    "--layout wide": 'the layout "one row per line"',
    "--layout long": 'the layout "one value per line"',
    "--layout": '"Layout"',
    "--absent zero": '"Pairs that are not listed: zero"',
    "--absent missing": '"Pairs that are not listed: missing"',
    "--absent": '"Pairs that are not listed"',
    "--skip-rows 0": "0 lines to skip",
    "--skip-rows": '"Lines to skip"',
    "--no-header": '"First line: data"',
    "--header": '"First line: column names"',
    "--columns": '"Columns to use"',
    "--ignore": '"Columns to ignore"',
    "--keep-totals": '"Keep totals"',
    "--no-encode": '"Texts: use numbers only"',
    "--encode": '"Texts: encode as numbers"',
    "--annotate-from": '"Table of annotations"',
    "--annotate NAME": '"Annotations"',
    "--annotate": '"Annotations"',
    "--transpose": '"Swap rows and columns"',
    "--decimal": '"Decimal sign"',
    "--n-clusters": '"Number of clusters"',
    "--sheet": '"Sheet"',
}
_OPTION = re.compile("|".join(map(re.escape, sorted(_FIELDS, key=len, reverse=True))))


def plain(message: str, folder: Path) -> str:
    """Return a message without the folder of the server and the options of the commands.

    Parameters
    ----------
    message : str
        What a command said.
    folder : Path
        The temporary folder of the server.

    Examples
    --------
    >>> plain("pyrocco: /tmp/p/files/07/a.csv: use --layout wide", Path("/tmp/p"))
    'a.csv: use the layout "one row per line"'
    """
    text = message.removeprefix("pyrocco: ").removeprefix("warning: ")
    inside = re.escape(str(folder)) + r"[/\\]\w+[/\\](?:[0-9a-f]+[/\\])?"
    text = re.sub(inside, "", text)
    return _OPTION.sub(lambda match: _FIELDS[match[0]], text)
