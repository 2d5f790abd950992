"""
Compared with seaborn's clustermap
==================================

`seaborn.clustermap` sorts rows and columns by hierarchical clustering. It draws trees and
leaves it to you where to cut them. `ROCCO` cuts rows and columns and says how many clusters
there are. Both get the same tumours, which come with scikit-learn.
"""

import matplotlib.pyplot as plt
import seaborn as sns
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO, plots

tumours = load_breast_cancer(as_frame=True)
scaled = ((tumours.data - tumours.data.mean()) / tumours.data.std()).clip(-3, 3)

# %%
# seaborn: trees of average linkage.

import warnings

warnings.filterwarnings("ignore", message="Clustering large matrix with scipy")
grid = sns.clustermap(scaled.T, figsize=(8, 6), cmap="vlag", center=0, xticklabels=False)

# %%
# pyrocco: clusters with borders.

model = ROCCO().fit(tumours.data)
fig, ax = plt.subplots(figsize=(8, 6), layout="constrained")
ax = plots.plot_biclusters(
    scaled.T.to_numpy(),
    model.column_labels_,
    model.row_labels_,
    ax,
    row_names=list(tumours.data.columns),
)

# %%
# The trees of seaborn, cut into as many clusters as `ROCCO` found, and the diagnosis, which
# neither method saw. (0 is the agreement of random labels and 1 that of identical ones.)

from scipy.cluster.hierarchy import fcluster

tree = grid.dendrogram_col.linkage
cut = fcluster(tree, model.n_row_clusters_, criterion="maxclust")
print("seaborn:", round(adjusted_rand_score(tumours.target, cut), 2))
print("pyrocco:", round(adjusted_rand_score(tumours.target, model.row_labels_), 2))
two = model.at(n_row_clusters=2).row_labels_
print("pyrocco, cut into two:", round(adjusted_rand_score(tumours.target, two), 2))
