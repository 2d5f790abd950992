"""
Cells and genes: an AnnData object
==================================

700 blood cells that come with scanpy. `pyrocco.tl.rocco` writes clusters of cells and of genes
into the AnnData object, where the functions of scanpy find them.
"""

import pandas as pd
import scanpy as sc

import pyrocco

adata = sc.datasets.pbmc68k_reduced()
pyrocco.tl.rocco(adata, use_raw=True)
print(adata.uns["rocco"]["preparation"])

# %%
# The cells had been sorted by other means, so we know their types:

pd.crosstab(adata.obs["bulk_labels"], adata.obs["rocco"])

# %%
# The clusters can be used as any other clusters, for instance as the colours of a UMAP.

sc.pl.umap(adata, color=["rocco", "bulk_labels"], legend_fontsize=7, wspace=0.25)

# %%
# Genes that are higher in a cluster than elsewhere:

sc.tl.rank_genes_groups(adata, "rocco", method="wilcoxon")
pd.DataFrame(adata.uns["rank_genes_groups"]["names"]).head(6)
