"""What the first lines of a table and its headings say about a column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyrocco.io.cell_texts import NUMBER, TEXT, is_missing, is_whole

__all__ = [
    "ColumnFacts",
    "find_coordinates",
    "heading_words",
    "is_code",
    "is_description",
    "is_entity",
    "is_identifier",
    "is_remark",
    "is_time",
    "numbers_rows",
]

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
# The last word of a heading that is always an identifier, such as customer_id or GeneID.
_IDENTIFIERS = {"id", "ids", "identifier", "accession", "uuid", "guid", "sku", "ean", "isbn"}
_IDENTIFIERS |= {"entrez", "ensembl", "refseq", "geneid", "entrezid", "probe", "probeid"}
_IDENTIFIERS |= {"probeset", "barcode", "rownames", "rowname"}
# Things that are counted in numbers of their own. A first column of whole numbers under such a
# heading holds identifiers; elsewhere it may hold anything.
_THINGS = {"gene", "sample", "patient", "subject", "participant", "respondent", "person", "case"}
_THINGS |= {"customer", "client", "user", "member", "product", "item", "article", "order"}
_THINGS |= {
    "shop",
    "store",
    "employee",
    "student",
    "cell",
    "spot",
    "plot",
    "site",
    "station",
    "transcript",
}
_THINGS |= {"protein", "compound", "index", "name", "row", "nr", "no", "key", "kunde", "artikel"}
_THINGS |= {"movie", "film", "book", "song", "doc", "document", "record", "observation"}
_UNNAMED = {"unnamed: 0", "__index_level_0__"}

# Rows, columns and values of long tables, besides the things above.
_ENTITIES = _THINGS | {"column", "col", "i", "j", "source", "target", "from", "to", "word", "term"}
_ENTITIES |= {"feature", "track", "artist", "business", "store", "shop", "organ", "tissue"}
_ENTITIES |= {"reviewer", "rater", "species", "country", "category", "shopper", "buyer"}

_TIMES = {"timestamp", "time", "date", "datetime", "day", "when", "created", "updated", "unixtime"}
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( .*)?")
# Seconds from 1990 to 2060, or milliseconds.
_SECONDS = (631_152_000, 2_840_140_800)
# The first column may number the rows of a table with this many lines and columns.
_LEAST_LINES, _LEAST_COLUMNS = 5, 3
# Half of the names of a column are not longer than this.
_LONGEST_NAME = 40
# Codes without a heading reach this number.
_LARGE_CODE = 1000

_CHROMOSOMES = {"chr", "chrom", "chromosome", "seqname", "seqnames", "seqid", "contig"}
_STARTS = {"start", "chromstart", "begin"}
_ENDS = {"end", "chromend", "stop"}
_BESIDE = {"strand", "length", "width"}


@dataclass(frozen=True)
class ColumnFacts:
    """Kind of a column, and some of its cells as texts."""

    kind: str
    cells: Sequence[str] = ()

    @property
    def repeats(self) -> bool:
        """Whether the same cell is there twice."""
        return len(set(self.cells)) < len(self.cells)

    @property
    def is_category(self) -> bool:
        """Whether most cells are empty or there several times, as in a column of treatments."""
        names = {cell.strip() for cell in self.cells if cell.strip()}
        return len(self.cells) >= _LEAST_LINES and 2 * len(names) <= len(self.cells)

    @property
    def names_lines(self) -> bool:
        """Whether every cell is filled, and none is there twice."""
        return not self.repeats and all(cell.strip() for cell in self.cells)

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers, and each of its cells is filled."""
        return self.kind == NUMBER and bool(self.cells) and all(map(is_whole, self.cells))


def heading_words(heading: str) -> list[str]:
    """Split a heading into lower-case words: ``GeneID`` and ``gene_id`` are gene, id."""
    return [word.lower() for word in _WORDS.findall(heading)]


def is_entity(heading: str) -> bool:
    """Whether a heading names a kind of things, such as ``user`` or ``movieId``."""
    words = heading_words(heading)
    stem = words[0].removesuffix("id") if len(words) == 1 else ""
    return bool(words) and (
        words[-1] in _IDENTIFIERS | _ENTITIES
        or stem in _ENTITIES
        or (words[-1] in {"code", "name", "number"} and words[0] in _ENTITIES)
    )


def is_identifier(facts: ColumnFacts, heading: str, is_first: bool) -> bool:
    """Whether a column of whole numbers holds identifiers, judged by its heading.

    In the first column the name of a thing is enough, such as ``gene``, if most numbers are
    different; in others the heading must be one of identifiers, such as ``gene_id``, and no
    number may be there twice.
    """
    if not facts.is_whole:
        return False
    words = heading_words(heading)
    stem = words[0].removesuffix("id") if len(words) == 1 else ""
    is_id = bool(words) and (words[-1] in _IDENTIFIERS or stem in _THINGS - {words[0]})
    if not is_first:
        return is_id and not facts.repeats
    is_thing = bool(words) and (words[-1] in _THINGS or words[-1].endswith(("nr", "nummer")))
    are_different = 2 * len(set(facts.cells)) >= len(facts.cells)
    return is_id or heading.strip().lower() in _UNNAMED or (is_thing and are_different)


def numbers_rows(facts: Sequence[ColumnFacts]) -> bool:
    """Whether the first column counts upwards from line to line: row numbers, years, days."""
    first = facts[0]
    if len(facts) < _LEAST_COLUMNS or len(first.cells) < _LEAST_LINES or not first.is_whole:
        return False
    numbers = [float(cell) for cell in first.cells]
    return all(b - a == 1 for a, b in pairwise(numbers))


def is_code(facts: Sequence[ColumnFacts]) -> bool:
    """Whether the first column of a table without headings holds codes, such as Entrez numbers.

    They are large whole numbers that never repeat, and all other columns hold fractions.
    """
    first, *others = facts
    if len(others) < 2 or len(first.cells) < _LEAST_LINES or not first.is_whole or first.repeats:
        return False
    has_fractions = all(not all(map(is_whole, other.cells)) for other in others)
    return has_fractions and max(float(cell) for cell in first.cells) >= _LARGE_CODE


def is_time(facts: ColumnFacts, heading: str) -> bool:
    """Whether a column says when something was: dates, or seconds since 1970."""
    filled = [cell.strip() for cell in facts.cells if not is_missing(cell)]
    if not filled:
        return False
    if facts.kind == TEXT:
        return all(_DATE.fullmatch(cell) for cell in filled)
    if facts.kind != NUMBER or not all(map(is_whole, filled)):
        return False
    low, high = _SECONDS
    numbers = [float(cell) for cell in filled]
    is_epoch = any(all(low <= x / unit <= high for x in numbers) for unit in (1, 1000))
    return is_epoch or bool(_TIMES & set(heading_words(heading)))


def is_description(heading: str) -> bool:
    """Whether a heading is that of remarks, which GCT files have even where they are empty."""
    return heading.strip().lower() in {"description", "comment", "comments", "remark", "remarks"}


def is_remark(facts: ColumnFacts, heading: str) -> bool:
    """Whether texts that never repeat are no names: remarks, sentences, or times."""
    lengths = sorted(len(cell) for cell in facts.cells)
    is_long = bool(lengths) and lengths[len(lengths) // 2] > _LONGEST_NAME
    return is_long or is_description(heading) or is_time(facts, heading)


def find_coordinates(names: Sequence[str] | None) -> tuple[int, ...]:
    """Return the columns of positions in a genome, such as Chr, Start, End, Strand and Length."""
    lower = [name.strip().lower() for name in names or ()]
    parts = (_CHROMOSOMES, _STARTS, _ENDS)
    if not all(any(name in part for name in lower) for part in parts):
        return ()
    known = set.union(*parts, _BESIDE)
    return tuple(j for j, name in enumerate(lower) if name in known)
