"""Algorithm 1 with another reading of what the paper leaves open."""

from benchmarks.paper.methods.ablated import fit_changed
from benchmarks.paper.methods.base import EVERYWHERE, TwoSided
from pyrocco import ROCCO


def cluster(X, k, seed, given=False, max_iter=100, **changes):
    """Change fields of `pyrocco.fitting.variants.Paper`; `given` gives the number of clusters."""
    number = k if given else None
    model = ROCCO(number, variant="paper", max_iter=max_iter, random_state=seed)
    return fit_changed(model, X, **changes)


METHOD = TwoSided("paper_reading", None, EVERYWHERE, cluster)
