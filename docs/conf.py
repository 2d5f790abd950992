"""Sphinx builds the site from this: ``make docs``, then open ``build/site/index.html``.

The source folder is the root of the repository, so that links between pages and to the results
of the benchmarks are the same here and in the repository.
"""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "pyrocco"
author = "The pyrocco developers"
copyright = author
release = version = installed_version("pyrocco")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "public_names",
    "example_pages",
    "docstrings",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "benchmarks/**.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = ["docs/_*", "docs/examples/**.ipynb", "docs/examples/**.py"]
templates_path = ["docs/_templates"]
nitpicky = False
# Names in single backquotes are code, in docstrings as in Markdown.
default_role = "literal"
highlight_language = "text"

# Markdown pages, and tutorials, which are notebooks in Markdown.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "auto"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

# The reference comes from the docstrings.
autosummary_generate = True
autosummary_imported_members = True
# Names that differ in their case only would share a file on some systems.
autosummary_filename_map = {"pyrocco.Reproducibility": "pyrocco.Reproducibility-class"}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["docs/examples"],
    "filename_pattern": "/plot_",
    "image_scrapers": ("figures",),
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "docs/api/examples",
    "doc_module": ("pyrocco",),
    "inspect_global_variables": True,
    "min_reported_time": 10,
    "plot_gallery": "True",
}

# Everything that a page needs is beside it: no fonts, scripts or styles from other hosts.
html_theme = "pydata_sphinx_theme"
html_title = "pyrocco"
html_static_path = ["_static"]
html_extra_path = ["_redirect"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "pyrocco"},
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"docs/index": []}
