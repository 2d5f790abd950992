"""
Outlier cells
=============

Single wrong values, such as a decimal point in the wrong place, must not decide the clusters.
The data are generated: four blocks under noise, and a tenth of the cells replaced by huge
values.
"""

import numpy as np
from sklearn.cluster import SpectralCoclustering
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO, plots
from pyrocco.datasets import make_noisy_biclusters

data = make_noisy_biclusters((100, 80), n_clusters=4, noise=10, random_state=0)
random = np.random.default_rng(0)
wrong = random.random(data.X.shape) < 0.1
huge = random.choice([-1, 1], wrong.shape) * random.uniform(300, 1000, wrong.shape)
X = np.where(wrong, huge, data.X)

# %%
model = ROCCO().fit(X)
spectral = SpectralCoclustering(4, random_state=0).fit(X)
for name, labels in (("ROCCO", model.row_labels_), ("spectral", spectral.row_labels_)):
    print(name, round(adjusted_rand_score(data.row_labels, labels), 2))

# %%
# `cell_weights_` tells which cells the model does not trust.

distrusted = model.cell_weights_ < 0.5
print(f"{distrusted[wrong].mean():.1%} of the wrong cells were found")
print(f"{distrusted[~wrong].mean():.1%} of the other cells were taken for outliers")

# %%
# The picture shows them in grey.

shown = np.clip(X, -50, 150)
figure = plots.before_and_after(
    shown, model.row_labels_, model.column_labels_, cell_weights=model.cell_weights_
)
