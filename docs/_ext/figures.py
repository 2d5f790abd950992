"""Pictures of the examples: every figure that a block of code makes, of pyplot or not."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

from pyrocco.plots import ClusterMap


def _get_sg_image_scraper():
    """Name the scraper for Sphinx-Gallery."""
    return scrape


def figure_of(value):
    """Return a figure, or the figure of axes and of annotated heat maps; None if there is none."""
    if isinstance(value, Figure):
        return value
    return value.figure if isinstance(value, (Axes, ClusterMap)) else None


def scrape(block, block_vars, gallery_conf, **options):
    """Save the figures of pyplot, and the others that a variable of the example holds."""
    names = block_vars["example_globals"]
    held = [figure for figure in map(figure_of, names.values()) if figure is not None]
    of_pyplot = [plt.figure(number) for number in plt.get_fignums()]
    saved = names.setdefault("__saved_figures__", [])
    shown = matplotlib_scraper(block, block_vars, gallery_conf, **options)
    paths = []
    for figure in held:
        if not any(figure is other for other in [*of_pyplot, *saved]):
            saved.append(figure)
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=120)
    saved += of_pyplot
    return shown + figure_rst(paths, gallery_conf["src_dir"])
