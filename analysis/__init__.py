# SPDX-License-Identifier: GPL-2.0-only
"""Figures, tables and reports from ipcstall's JSON. This package knows the schema and nothing else of the tool."""
import os

# The arrays are small, and the threads of OpenBLAS spin while they wait: on two CPUs they take the time of one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
