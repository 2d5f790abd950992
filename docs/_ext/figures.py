"""Pictures of the examples: every figure that a block of code makes, of pyplot or not."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper


def _get_sg_image_scraper():
    """Name the scraper for Sphinx-Gallery."""
    return scrape


def scrape(block, block_vars, gallery_conf, **options):
    """Save the figures of pyplot, and those that a variable of the example holds."""
    shown = matplotlib_scraper(block, block_vars, gallery_conf, **options)
    names = block_vars["example_globals"]
    paths = []
    for figure in [value for value in names.values() if isinstance(value, Figure)]:
        if not getattr(figure, "_in_gallery", False) and figure.number is None:
            figure._in_gallery = True
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=120)
    return shown + figure_rst(paths, gallery_conf["src_dir"])
