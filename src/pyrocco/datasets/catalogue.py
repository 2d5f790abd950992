"""The nine real sets of the paper: their files, checksums and origins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Entry:
    """One real set as it lies on disk.

    Attributes
    ----------
    file : str
        Name of the file in the data folder.
    kind : {"text", "genes"}
        Counts of terms in documents, or expression of genes in samples.
    sha256 : str
        Checksum of the file.
    origin : str
        Public source of the numbers.
    note : str
        How the set differs from the one described in the paper.

    Examples
    --------
    >>> from pyrocco.datasets.catalogue import CATALOGUE
    >>> CATALOGUE["glioma"].kind
    'genes'
    """

    file: str
    kind: Literal["text", "genes"]
    sha256: str
    origin: str
    note: str


CATALOGUE: dict[str, Entry] = {
    "classic3": Entry(
        file="classic3.npz",
        kind="text",
        sha256="53966a9d7b3603a739ba9bbbba5f29979b4be02e524884ea38143339530483a3",
        origin="github.com/franrole/cclust_package, datasets/classic3.mat (commit d301cf8d)",
        note="4303 terms, of which the 2000 most frequent as in the paper",
    ),
    "20news2": Entry(
        file="20news2.npz",
        kind="text",
        sha256="199818970e5754cdbe8a7ee788bd5665a1e2b7f5bc3080247ba1032bb58517f2",
        origin="github.com/YunomiXavia/20news-bydate",
        note="1715 documents where the paper has 1777: the by-date version drops cross-posts",
    ),
    "20news10": Entry(
        file="20news10.npz",
        kind="text",
        sha256="f8ca5bd809c41a035005099a8c0f6139890827006df8b2e45ecfcb2b3d6c73b1",
        origin="github.com/YunomiXavia/20news-bydate",
        note="9588 documents where the paper has 9607: the by-date version drops cross-posts",
    ),
    "reuters": Entry(
        file="reuters.npz",
        kind="text",
        sha256="3b1bc80985dd29e228bb91db5a83320cb1d20843897a6827d2e2653427ad2fd6",
        origin="Reuters-21578 (research only), github.com/colibri17/TextCategorization",
        note="9101 documents where the paper has 9082; ModApte, one topic, topics of 5 or more",
    ),
    "rcv1": Entry(
        file="rcv1.npz",
        kind="text",
        sha256="7db9a60566a59ce2d5cce01a4af8972ac88c7493da9716f6cc9b873582194f0e",
        origin="LYRL2004 term vectors, github.com/fcharte/mldr.datasets (git history)",
        note="another random 10000 documents; counts recovered from weights; terms are ids only",
    ),
    "allaml": Entry(
        file="allaml.npz",
        kind="genes",
        sha256="ffedd52a03bc56cd682b1a7536bb3404eda416577a5a55ab80b3d840b8e070f6",
        origin="github.com/jundongl/scikit-feature, skfeature/data/ALLAML.mat (commit 48cffad4)",
        note="the paper's; distributed already z-scored by gene",
    ),
    "glioma": Entry(
        file="glioma.npz",
        kind="genes",
        sha256="5987852a5823f12c25167e80e584304d71cabd675d6c73be3b52197b31415428",
        origin="github.com/jundongl/scikit-feature, skfeature/data/GLIOMA.mat (commit 48cffad4)",
        note="the paper's",
    ),
    "carcinom": Entry(
        file="carcinom_desouto1571.npz",
        kind="genes",
        sha256="fafd8199e5265446fe3ce5d00bc354013a0c40e5591451c141bd7eadc52301e0",
        origin="github.com/padilha/biclustlib, cancer_benchmark/su-2001_database.txt",
        note="substitute: the same 174 samples, 1571 genes (paper 9182), 10 classes (paper 11)",
    ),
    "lung": Entry(
        file="lung_desouto1543.npz",
        kind="genes",
        sha256="9964a8e556f0ab0c61dbd5bfa240ac5059e23f9a4ffb43f2affbaa8245f722b1",
        origin="github.com/padilha/biclustlib, cancer_benchmark/bhattacharjee-2001_database.txt",
        note="substitute: the same 203 samples and 5 classes, 1543 genes (paper 3312)",
    ),
}

TEXT_SETS: tuple[str, ...] = tuple(n for n, entry in CATALOGUE.items() if entry.kind == "text")
GENE_SETS: tuple[str, ...] = tuple(n for n, entry in CATALOGUE.items() if entry.kind == "genes")
REAL_SETS: tuple[str, ...] = TEXT_SETS + GENE_SETS
