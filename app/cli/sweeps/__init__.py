"""Sweeps from the command line: trials on this machine or on a Dask cluster."""
