"""Guessing from names what rows and columns are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["look_like_genes", "look_like_words"]

_SAMPLE = 2000
_ENSEMBL = re.compile(r"ENS[A-Z]{0,4}G\d{6,}(\.\d+)?( .*)?$")
# Genes that nearly every experiment finds, of people and of mice.
_SYMBOL = re.compile(r"(RP[LS]P?\d+[AXYL]?|MT-[A-Z0-9]+|ACTB|GAPDH|B2M|MALAT1|EEF1A1|TP53|MYC)$")
_WORD = re.compile(r"[a-z]{2,20}$")


def look_like_genes(names: Sequence[str]) -> bool:
    """Whether names look like genes: Ensembl identifiers, or symbols found everywhere.

    Parameters
    ----------
    names : sequence of str
        Names of rows or of columns.

    Returns
    -------
    bool

    Examples
    --------
    >>> look_like_genes(["ENSG00000141510", "ENSG00000136997"])
    True
    >>> look_like_genes(["liver", "heart"])
    False
    """
    if _share(names[:_SAMPLE], lambda name: bool(_ENSEMBL.match(name))) > 0.5:
        return True
    return sum(bool(_SYMBOL.match(name.upper())) for name in names) >= 3


def look_like_words(names: Sequence[str]) -> bool:
    """Whether names look like the words of texts: many, and of small letters only.

    Parameters
    ----------
    names : sequence of str
        Names of columns.

    Returns
    -------
    bool

    Examples
    --------
    >>> look_like_words(["column_0", "column_1"])
    False
    """
    found = _share(names[:_SAMPLE], lambda name: bool(_WORD.match(name)))
    return len(names) >= 50 and found > 0.8


def _share(names: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, names)) / max(len(names), 1)
