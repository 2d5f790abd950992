"""
A large matrix
==============

20,000 rows and 100 columns, and what to do with much larger ones. The data are generated.
"""

import time

from pyrocco import ROCCO, plots
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.inspection import estimate_cost
from pyrocco.metrics import agreement

data = make_noisy_biclusters((20_000, 100), n_clusters=5, noise=30, random_state=0)

# %%
# Before a fit, `estimate_cost` says how much memory and time it will take.

print(estimate_cost(*data.X.shape))

# %%
started = time.perf_counter()
model = ROCCO().fit(data.X)
print(f"{time.perf_counter() - started:.1f} seconds")
print(model.n_row_clusters_, model.n_column_clusters_)
print(f"ARI {agreement(data.row_labels, model.row_labels_)['ari']:.3f}")

# %%
# If a fit needs more memory than you have, set a limit: the fit then keeps its arrays in
# temporary files, and finds the same clusters. See :doc:`/docs/cluster` for matrices in many
# files and for several machines.

limited = ROCCO(memory_limit="2GB").fit(data.X)
print((limited.row_labels_ == model.row_labels_).all())

# %%
# Pictures of large matrices are means over neighbouring cells.

figure = plots.before_and_after(data.X, model.row_labels_, model.column_labels_)
