"""Links to the script of an example lead to its page on the site."""

import re


def link_to_pages(app, docname, source):
    """Replace links to ``../examples/plot_x.py`` by links to the page that is made of it."""
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](/docs/examples/\1.rst)", source[0])


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", link_to_pages)
    return {"parallel_read_safe": True}
