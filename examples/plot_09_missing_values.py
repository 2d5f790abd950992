"""
Missing values
==============

Images of handwritten digits, which come with scikit-learn. We remove a growing share of the
pixels and compare the clusters with the digits that were written.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from pyrocco import ROCCO
from pyrocco.metrics import agreement

images, digit = load_digits(n_class=5, return_X_y=True)
images, digit = images[:300], digit[:300]
random = np.random.default_rng(0)

models = {}
for share in (0.0, 0.2, 0.4):
    damaged = np.where(random.random(images.shape) < share, np.nan, images)
    models[share] = ROCCO().fit(damaged), damaged
    ari = agreement(digit, models[share][0].row_labels_)["ari"]
    print(f"{share:.0%} missing: {models[share][0].n_row_clusters_} clusters, ARI {ari:.2f}")

# %%
# `impute` fills in the pixels that are missing.

model, damaged = models[0.4]
filled = model.impute(damaged)
fig, axes = plt.subplots(3, 6, figsize=(7, 3.8), layout="constrained")
for row, (name, values) in zip(
    axes, [("complete", images), ("given", damaged), ("filled in", filled)]
):
    row[0].set_title(name, loc="left")
    for ax, image in zip(row, values):
        ax.imshow(image.reshape(8, 8), cmap="Greys", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
