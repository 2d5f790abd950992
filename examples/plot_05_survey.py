"""
A survey: numbers, answers and categories
=========================================

A table of a survey contains numbers, yes/no answers and categories side by side. The data are
generated: 240 people of three kinds, who differ in their habits, with some answers missing.
"""

import numpy as np
import pandas as pd

from pyrocco import ROCCO, plots
from pyrocco.prepare import encode

random = np.random.default_rng(1)
kind = random.choice(["student", "parent", "pensioner"], 240)
rate = pd.DataFrame(
    {
        "student": [0.8, 0.2, 0.1, 0.7, 0.3],
        "parent": [0.2, 0.9, 0.2, 0.3, 0.8],
        "pensioner": [0.1, 0.3, 0.9, 0.1, 0.4],
    },
    index=["rents", "has car", "gardens", "streams films", "owns house"],
)
age = pd.Series(kind).map({"student": 23, "parent": 41, "pensioner": 71})
people = pd.DataFrame({"age": random.normal(age, 4).round()})
for question, share in rate.iterrows():
    people[question] = np.where(random.random(240) < share[kind], "yes", "no")
people["news"] = random.choice(["newspaper", "radio", "internet"], 240)
likely = pd.Series(kind).map({"student": "internet", "parent": "radio", "pensioner": "newspaper"})
people["news"] = people["news"].where(random.random(240) < 0.4, likely)
people = people.mask(random.random(people.shape) < 0.04)
people.head()

# %%
# `encode` turns the table into numbers, so that every question has the same weight.

encoded = encode(people)
print(encoded.sentence)
print(encoded.column_names)

# %%
# The encoded columns need no further preparation. Missing answers need no attention.

model = ROCCO(prepare=None).fit(encoded.X)
print(model.n_row_clusters_, "clusters of people")

# %%
# These clusters are finer than the three kinds from which the data were made: each kind
# falls into two clusters, by the answers that its people happen to share. The clusters are
# nested, and the cut into three shows the kinds.

cut = model.at(n_row_clusters=3)
pd.crosstab(cut.row_labels_, kind, rownames=["cluster"], colnames=["kind of person"])

# %%
# What distinguishes the clusters of people:

found = cut.explain(top=5, column_names=encoded.column_names)
found.loc[found["kind"] == "column", ["row_cluster", "column", "mean", "rest_mean", "direction"]]

# %%
# The answers, sorted by cluster:

figure = plots.before_and_after(
    encoded.X, cut.row_labels_, cut.column_labels_, column_names=list(encoded.column_names)
)
