"""Shapes such as ``(n_rows, n_row_clusters_)`` in docstrings contain no links.

reStructuredText reads a word with an underscore at its end as one.
"""

import re

SHAPE = re.compile(r"of shape \([^)]*\)")


def escape_shapes(app, what, name, obj, options, lines):
    """Escape the underscores at the end of words in shapes."""
    for number, line in enumerate(lines):
        lines[number] = SHAPE.sub(lambda found: re.sub(r"_(?=[,)])", r"\\_", found[0]), line)


def setup(app):
    """Connect to Sphinx, before numpydoc."""
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)
    return {"parallel_read_safe": True}
