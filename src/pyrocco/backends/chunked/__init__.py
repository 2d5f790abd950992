"""Matrices in chunks of rows: in files of this machine, or on a Dask cluster."""
