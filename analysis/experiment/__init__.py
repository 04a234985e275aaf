# SPDX-License-Identifier: GPL-2.0-only
"""Experiments: a file states the hypothesis, sweeps bring the data, a test answers."""
