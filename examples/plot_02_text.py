"""
Text: documents and their words
===============================

The descriptions of the functions of SciPy are real texts that are installed with it. Each
belongs to a part of SciPy, such as signal processing or statistics. Clusters of documents and
clusters of words explain each other.
"""

import importlib
import inspect

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from pyrocco import ROCCO, plots

parts = ["fft", "ndimage", "signal", "sparse.csgraph", "special", "stats"]
documents = {}
for part in parts:
    module = importlib.import_module(f"scipy.{part}")
    for name in module.__all__:
        function = getattr(module, name)
        if inspect.isfunction(function) and len(function.__doc__ or "") > 500:
            documents[f"{part}.{name}"] = function.__doc__
print(len(documents), "documents")

# %%
# Count the words. The counts are a sparse matrix: most words are missing from most
# documents.

vectorizer = CountVectorizer(stop_words="english", min_df=8, token_pattern=r"[a-z]{3,}")
X = vectorizer.fit_transform(documents.values())
words = vectorizer.get_feature_names_out()
X.shape

# %%
# The fit recognises counts, and divides out the lengths of the documents and the frequencies
# of the words.

model = ROCCO().fit(X)
print(model.cells_, "-", model.n_row_clusters_, "clusters of documents")

# %%
# Most clusters of documents are a part of SciPy, or a piece of one. Cluster 1 is a mixture:

part = pd.Series(list(documents)).str.rpartition(".")[0].rename("part")
pd.crosstab(part, model.row_labels_, colnames=["cluster"])

# %%
# `explain` lists what distinguishes each cluster. These words are typical of each cluster of
# documents:

found = model.explain(top=20, column_names=words)
typical = found[(found["kind"] == "column") & (found["direction"] == "higher")]
for cluster, rows in typical.groupby("row_cluster"):
    print(cluster, ", ".join(rows["column"].head(7)))

# %%
# Frequent words in the documents, sorted by cluster:

frequent = X.toarray().sum(axis=0) > 100
columns = np.unique(model.column_labels_[frequent], return_inverse=True)[1]
figure = plots.before_and_after(np.log1p(X[:, frequent].toarray()), model.row_labels_, columns)
