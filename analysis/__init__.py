# SPDX-License-Identifier: GPL-2.0-only
"""Figures, tables and reports from ipcstall's JSON. This package knows the schema and nothing else of the tool."""

__version__ = "0.1.0"
