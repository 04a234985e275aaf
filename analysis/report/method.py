# SPDX-License-Identifier: GPL-2.0-only
"""How the figures were made, for whoever doubts them."""

from __future__ import annotations

from typing import Sequence, Tuple

from ..stats.correlate import DRAWS
from ..stats.dips import ALPHA
from ..stats.ranks import MARGIN

METHOD: Sequence[Tuple[str, str]] = (
    ("Stall", "Every nanosecond of an endpoint's life is in one state. Stall is the time in rwnd, cwnd, nagle, cork, pacing, recovery "
              "and sndbuf: the protocol waits for an event while the device is not active. Normalised stall is its share of the time."),
    ("Dips", "With a run of the fix beside it, a size is in a dip when its time per message exceeds that of the fixed run: a one-sided t test of the "
             "log ratio (of the means or of the medians of the repeats, whichever is smaller) whose noise is pooled over the repeats and over the scatter of the "
             "fixed run about its own trend. Without one, a healthy "
             "line (time = a + b × size) is grown from the quickest coherent sizes by a forward search, and what lies above it is tested "
             f"against its scatter. Intervals that the runs gave of themselves count as noise too. Both are corrected for the number of sizes by Holm's method, at {ALPHA:g}."),
    ("Share explained", "Stall per message (less that of the fixed run) over excess time per message. 100 % means that the dip is stall and nothing else; "
                        "above it, stall overlapped time that was not lost."),
    ("Correlation", f"Pearson's r over sizes, with a 95 % bootstrap interval over the pairs ({DRAWS} draws, fixed seed): dips come in clusters, which "
                    "intervals that assume a normal distribution get wrong. Spearman's ρ beside it."),
    ("Ranks", f"Two contestants tie unless a one-sided test shows the slower to be worse by more than {MARGIN:.0%}: Mann-Whitney on latency histograms, "
              f"Welch's t on the logarithms of throughput trials, each counting as long as it lasted; Bonferroni within a row, at {ALPHA:g}."),
    ("Latency", "Minimum, quartiles and tail are the tool's, from every sample. Distributions are from its histogram, read at the upper edge of "
                "each bucket. The mean is not used."),
)
