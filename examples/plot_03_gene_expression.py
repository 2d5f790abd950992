"""
Gene expression: samples and genes
==================================

Expression of 600 genes in 90 samples. The data are generated: three types of tissue, four
programs of genes that are active in some of them, and the multiplicative noise that is usual
for expression.
"""

import numpy as np
import pandas as pd

from pyrocco import ROCCO, plots

random = np.random.default_rng(0)
tissue = random.choice(["liver", "kidney", "lung"], 90)
program = random.choice(["cell cycle", "metabolism", "immune", "housekeeping"], 600)
active = pd.DataFrame(
    [[1, 8, 2, 6], [4, 8, 1, 6], [2, 1, 9, 6]],
    index=["liver", "kidney", "lung"],
    columns=["cell cycle", "metabolism", "immune", "housekeeping"],
)
level = random.lognormal(3, 0.8, 600)  # every gene has a level of its own
expression = pd.DataFrame(
    active.loc[tissue, program].to_numpy() * level * random.lognormal(0, 0.5, (90, 600)),
    index=[f"sample {i}" for i in range(90)],
    columns=[f"gene {j}" for j in range(600)],
)
expression.iloc[:3, :6].round(1)

# %%
# Values that are positive and range over orders of magnitude get logarithms.

model = ROCCO().fit(expression)
print(model.preparation_)
print(model.n_row_clusters_, "clusters of samples,", model.n_column_clusters_, "of genes")

# %%
# The clusters are the types of tissue,

pd.crosstab(model.row_labels_, tissue, rownames=["cluster"], colnames=["tissue"])

# %%
# and those of genes are the programs. Three programs are in two clusters each, one of genes with
# a low level and one of genes with a high level:

pd.crosstab(model.column_labels_, program, rownames=["cluster"], colnames=["program"])

# %%
# The logarithms of the genes, with the level of every gene taken off:

logarithms = np.log(expression)
figure = plots.before_and_after(
    (logarithms - logarithms.mean()).to_numpy(), model.row_labels_, model.column_labels_
)
