"""Write the pages of the reference: one for each public module, from what it exports.

They are written before Sphinx looks for pages, and autosummary makes a page for each name from its
docstring. A new public name therefore needs no change here.
"""

import re
from importlib import import_module
from pathlib import Path

PAGE = """\
{title}
{rule}

.. automodule:: {module}
   :no-members:

.. currentmodule:: {module}

.. autosummary::
   :toctree: names
   :nosignatures:

{names}
"""


def public_modules(source):
    """Return `pyrocco` and the modules that the page about the API names."""
    text = (source / "docs" / "api.md").read_text(encoding="utf-8")
    section = text.split("## Modules beside them\n")[1].split("\n## ")[0]
    return ["pyrocco", *re.findall(r"^\| `([\w.]+)` \|", section, flags=re.MULTILINE)]


def write_pages(app, config):
    """Write the page of each public module."""
    folder = Path(app.srcdir) / "docs" / "api"
    folder.mkdir(exist_ok=True)
    for module in public_modules(Path(app.srcdir)):
        names = "\n".join(f"   {name}" for name in import_module(module).__all__)
        page = PAGE.format(title=module, rule="=" * len(module), module=module, names=names)
        path = folder / f"{module}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")


def setup(app):
    """Connect to Sphinx."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
