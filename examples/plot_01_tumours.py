"""
Tumours and their measurements
==============================

A first example: 569 breast tumours, each described by 30 measurements of its cell nuclei. The
table comes with scikit-learn.
"""

from sklearn.datasets import load_breast_cancer

from pyrocco import ROCCO, plots

tumours = load_breast_cancer(as_frame=True)
X = tumours.data
X.iloc[:4, :4]

# %%
# A fit needs no numbers of clusters and no scaling. It finds out that the columns have
# different units and prepares them accordingly.

model = ROCCO().fit(X)
print(model.n_row_clusters_, "clusters of tumours")
print(model.n_column_clusters_, "clusters of measurements")
print(model.preparation_)

# %%
# Sorted by cluster, the matrix shows blocks. The picture shows scaled columns, because the
# areas are thousands of times as large as the other measurements.

scaled = (X - X.mean()) / X.std()
figure = plots.before_and_after(
    scaled.clip(-3, 3).to_numpy(),
    model.row_labels_,
    model.column_labels_,
    column_names=list(X.columns),
)

# %%
# The names of the measurements in each cluster:

for cluster in range(model.n_column_clusters_):
    print(cluster, ", ".join(X.columns[model.column_labels_ == cluster]))

# %%
# The fit did not see the diagnosis. The clusters agree with it:

import pandas as pd

diagnosis = tumours.target.map({0: "malignant", 1: "benign"})
pd.crosstab(model.row_labels_, diagnosis, rownames=["cluster"], colnames=["diagnosis"])
