"""Docstrings of constants, and shapes such as ``(n_rows, n_row_clusters_)`` without links.

Constants have no docstrings in Python. reStructuredText reads a word with an underscore at its end
as a link.
"""

import re

from sphinx.util import logging

CONSTANTS = {
    "pyrocco.io.RESULT_FORMATS": (
        'Formats of tables of results: "csv", "parquet" and "h5ad". Each has a function that '
        "raises an error if a package is missing, and one that writes the tables."
    ),
    "pyrocco.prepare.PREPARATIONS": (
        "The preparations by name, each as a function, in the order in which several are applied."
    ),
}
SHAPE = re.compile(r"of shape \([^)]*\)")


def describe_constants(app, what, name, obj, options, lines):
    """Add the description of a constant, and warn of a constant without one."""
    if what != "data" or any(lines):
        return
    if name not in CONSTANTS:
        logging.getLogger(__name__).warning("%s has no description in %s", name, __file__)
    lines.append(CONSTANTS.get(name, ""))


def escape_shapes(app, what, name, obj, options, lines):
    """Escape the underscores at the end of words in shapes."""
    for number, line in enumerate(lines):
        lines[number] = SHAPE.sub(lambda found: re.sub(r"_(?=[,)])", r"\\_", found[0]), line)


def setup(app):
    """Connect to Sphinx, before numpydoc."""
    app.connect("autodoc-process-docstring", describe_constants, priority=99)
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)
    return {"parallel_read_safe": True}
