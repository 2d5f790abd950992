"""
Sales: shops and products
=========================

How many pieces of each product each shop has sold. The data are generated: large and small
shops, popular and rare products, and four kinds of shops that sell different mixtures.
"""

import numpy as np
import pandas as pd

from pyrocco import ROCCO, plots

random = np.random.default_rng(3)
place = random.choice(["station", "suburb", "beach", "office quarter"], 120)
ware = random.choice(["snacks", "groceries", "drinks", "sun and swim"], 90)
mixture = pd.DataFrame(
    [[6, 1, 3, 1], [1, 6, 2, 1], [3, 1, 5, 9], [5, 1, 2, 0.5]],
    index=["station", "suburb", "beach", "office quarter"],
    columns=["snacks", "groceries", "drinks", "sun and swim"],
)
size = random.lognormal(0, 1, (120, 1))
popularity = random.lognormal(0, 1, 90)
sales = pd.DataFrame(
    random.poisson(3 * mixture.loc[place, ware].to_numpy() * size * popularity),
    index=[f"shop {i}" for i in range(120)],
    columns=[f"product {j}" for j in range(90)],
)
print("the smallest and the largest shop sold", *sorted(sales.sum(axis=1))[:: len(sales) - 1])

# %%
# Clusters of such counts must not be clusters of large and small shops. The fit recognises
# counts and compares the shares of the products.

model = ROCCO().fit(sales)
print(model.preparation_)
pd.crosstab(model.row_labels_, place, rownames=["cluster"], colnames=["place"])

# %%
# The products:

pd.crosstab(model.column_labels_, ware, rownames=["cluster"], colnames=["ware"])

# %%
# How many times as much as expected from their totals each cluster of shops sells of each
# cluster of products:

rows = pd.get_dummies(model.row_labels_).T.to_numpy(float)
columns = pd.get_dummies(model.column_labels_).to_numpy(float)
pieces = rows @ sales.to_numpy() @ columns
expected = pieces.sum(1, keepdims=True) * pieces.sum(0) / pieces.sum()
pd.DataFrame(pieces / expected).round(1)

# %%
figure = plots.before_and_after(
    np.log1p(sales.to_numpy()), model.row_labels_, model.column_labels_
)
