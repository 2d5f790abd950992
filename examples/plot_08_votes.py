"""
Votes: members and bills
========================

Who voted how in a parliament, with absences. The data are generated: 150 members of three
parties, 80 bills of four kinds, and members who leave the line of their party now and then.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pyrocco import ROCCO, plots

random = np.random.default_rng(4)
party = random.choice(["left", "centre", "right"], 150, p=[0.4, 0.2, 0.4])
topic = random.choice(["taxes", "defence", "environment", "procedure"], 80)
line = pd.DataFrame(
    [[0.97, 0.03, 0.97, 0.97], [0.03, 0.97, 0.97, 0.97], [0.03, 0.97, 0.03, 0.97]],
    index=["left", "centre", "right"],
    columns=["taxes", "defence", "environment", "procedure"],
)
votes = (random.random((150, 80)) < line.loc[party, topic].to_numpy()).astype(float)
votes[random.random(votes.shape) < 0.1] = np.nan  # absent

# %%
# Yes is 1, no is 0, and absences are missing values.

model = ROCCO().fit(votes)
print(model.cells_, "in", model.n_row_clusters_, "clusters of members")
pd.crosstab(model.row_labels_, party, rownames=["cluster"], colnames=["party"])

# %%
# No cluster mixes two parties, but the fit splits parties further than we planted them.
# Small clusters of yes/no values deserve a second look. The cut into three shows the
# parties:

cut = model.at(n_row_clusters=3)
pd.crosstab(cut.row_labels_, party, rownames=["cluster"], colnames=["party"])

# %%
# The means of the blocks are shares of yes votes.

ax = plots.plot_block_means(
    cut.block_means_,
    plt.figure(figsize=(5, 3.5), layout="constrained").add_subplot(),
    row_sizes=np.bincount(cut.row_labels_),
    column_sizes=np.bincount(cut.column_labels_),
)

# %%
figure = plots.before_and_after(votes, cut.row_labels_, cut.column_labels_)
