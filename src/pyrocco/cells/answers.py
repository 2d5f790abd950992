"""Words that mean yes and no. This module imports nothing, so that readers start at once."""

from __future__ import annotations

__all__ = ["YES_NO"]

# Answers that mean yes, and answers that mean no.
YES_NO: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("yes", "y"), ("no", "n")),
    (("true", "t"), ("false", "f")),
    (("ja", "j"), ("nein", "nej", "nee", "n")),
    (("oui", "o"), ("non", "n")),
    (("sí", "si", "sì", "s"), ("no", "n")),
    (("wahr",), ("falsch",)),
    (("vrai",), ("faux",)),
    (("present",), ("absent",)),
    (("positive", "pos"), ("negative", "neg")),
    (("1", "1.0"), ("0", "0.0")),
)
