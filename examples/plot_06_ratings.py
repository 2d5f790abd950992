"""
Ratings: people and films
=========================

Most people have seen few films, so that most ratings are missing. The data are generated: 300
people rate 120 films with 1 to 5 stars, according to their taste and the genre, and 70 % of
the ratings are missing.
"""

import numpy as np
import pandas as pd

from pyrocco import ROCCO, plots

random = np.random.default_rng(2)
taste = random.integers(0, 3, 300)
genre = random.choice(["action", "romance", "documentary", "comedy"], 120)
liking = pd.DataFrame(
    [[4.5, 2.0, 1.5, 3.8], [2.0, 4.4, 3.0, 3.9], [1.6, 2.4, 4.6, 2.2]],
    columns=["action", "romance", "documentary", "comedy"],
)
stars = liking.loc[taste, genre].to_numpy() + random.normal(0, 0.8, (300, 120))
ratings = np.clip(np.round(stars), 1, 5)
seen = random.random(ratings.shape) < 0.3
observed = np.where(seen, ratings, np.nan)

# %%
# NaN marks a missing value. Nothing has to be filled in.

model = ROCCO().fit(observed)
print(model.n_row_clusters_, "clusters of people,", model.n_column_clusters_, "of films")
pd.crosstab(model.column_labels_, genre, rownames=["cluster"], colnames=["genre"])

# %%
# The mean rating of each block says who likes what:

pd.DataFrame(
    model.block_means_.round(1),
    index=[f"people {i}" for i in range(model.n_row_clusters_)],
    columns=[f"films {j}" for j in range(model.n_column_clusters_)],
)

# %%
# `impute` predicts the ratings that are missing. The mean error is smaller than that of the
# mean of each film:

filled = model.impute(observed)
film_means = np.broadcast_to(np.nanmean(observed, axis=0), observed.shape)
print("model:     ", np.abs(filled - ratings)[~seen].mean().round(2), "stars")
print("film means:", np.abs(film_means - ratings)[~seen].mean().round(2), "stars")

# %%
figure = plots.before_and_after(observed, model.row_labels_, model.column_labels_)
