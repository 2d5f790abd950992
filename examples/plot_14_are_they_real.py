"""
How many clusters, and are they real?
=====================================

Every matrix can be cut into clusters, even noise. We look at coarser and finer clusters of the
measurements of 178 wines, which come with scikit-learn, and test whether the clusters are
found again in other parts of the data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO, plots, reproducibility

wine = load_wine(as_frame=True)
model = ROCCO().fit(wine.data)
print(model.n_row_clusters_, "clusters of wines,", model.n_column_clusters_, "of measurements")

# %%
# The clusters are nested. One fit answers for every number of clusters.

for number in (2, 3, 4, 5):
    labels = model.at(n_row_clusters=number).row_labels_
    agreement = adjusted_rand_score(wine.target, labels)
    print(number, "clusters:", np.bincount(labels), f"ARI with the cultivar {agreement:.2f}")

# %%
# The tree shows how the clusters are merged.

tree = model.tree_.rows
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax = plots.plot_tree(tree.finest, tree.merges, tree.heights, ax, n_clusters=model.n_row_clusters_)

# %%
# `reproducibility` fits again to halves of the rows and of the columns. A score near 1 means
# that the clusters are found again, and 0 that they are found no better than by chance.
# ``n_null=20`` would compare the scores with those of matrices without structure, which
# gives p-values and takes longer.

found = reproducibility(model, wine.data, n_repeats=4, n_null=0)
print(found.summary())

# %%
# The clusters of wines are found again in part: two halves of thirteen measurements are little to
# go by. Those of the measurements are hardly found again, and are best ignored.
#
# Noise is one cluster, as it should be:

noise = np.random.default_rng(0).normal(size=(178, 13))
print(ROCCO().fit(noise).n_row_clusters_)
