"""Links to the script of an example lead to its page; every example has a picture."""

import re
from pathlib import Path

from sphinx.util import logging


def link_to_pages(app, docname, source):
    """Replace links to ``../examples/plot_x.py`` by links to the page that is made of it."""
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](/docs/examples/\1.rst)", source[0])


def look_for_pictures(app):
    """Warn of examples without a picture: their code made no figure, or none was found."""
    pictures = Path(app.srcdir) / "docs" / "examples" / "images"
    for example in (Path(app.srcdir) / "examples").glob("plot_*.py"):
        if not any(pictures.glob(f"sphx_glr_{example.stem}_0*.png")):
            logging.getLogger(__name__).warning("%s has no picture", example.name)


def setup(app):
    """Connect to Sphinx, where the pictures come after the gallery has run the examples."""
    app.connect("source-read", link_to_pages)
    app.connect("builder-inited", look_for_pictures, priority=900)
    return {"parallel_read_safe": True}
