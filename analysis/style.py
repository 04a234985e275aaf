# SPDX-License-Identifier: GPL-2.0-only
"""How every figure looks: one place. Colours are Okabe and Ito's, told apart by the colour-blind; what colour says
is said again by marker, line or hatch, so that a black-and-white print says it too."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Tuple

from .elsewhere import in_own_directory

with in_own_directory():
    import matplotlib

matplotlib.use("Agg")

WIDTH = 6.3  # inches: the text width of an A4 page with 25 mm margins
HEIGHT = 3.5
DPI = 200

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE, BAND = "#5F6B73", "#E4E8EB", "#F7DDC8"

# Curves: colour, marker, line.
CURVES: Tuple[Tuple[str, str, Any], ...] = (
    (VERMILLION, "o", "-"), (BLUE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "D", ":"), (ORANGE, "v", "-"),
    (SKY, "P", "--"), (BLACK, "X", "-."), ("#7A5195", "*", ":"),
)

# States of the ledger: colour and hatch. Quiet states are pale, stalls are warm, nagle is the loudest.
STATES: Dict[str, Tuple[str, str]] = {
    "work": (BLUE, ""), "device": (SKY, ""), "flight": ("#BFD3E0", ""), "idle": ("#F1F3F4", ""), "wait": ("#DDE2E5", ""),
    "nagle": (VERMILLION, ""), "cork": (PURPLE, "xxx"), "rwnd": (ORANGE, "///"), "cwnd": (YELLOW, "..."),
    "sndbuf": ("#8C2D4F", "---"), "pacing": (GREEN, "\\\\\\"), "recovery": ("#333333", "+++"), "unread": (ORANGE, "|||"),
}

RC: Dict[str, Any] = {
    "font.family": "DejaVu Sans", "font.size": 8.0, "axes.titlesize": 9.0, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.titlepad": 6.0, "axes.labelsize": 8.0, "xtick.labelsize": 7.5, "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5, "legend.frameon": False, "legend.handlelength": 2.4, "legend.borderaxespad": 0.0,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.7, "axes.edgecolor": GREY,
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": "#D9DEE2", "grid.linewidth": 0.5,
    "xtick.color": GREY, "ytick.color": GREY, "xtick.labelcolor": BLACK, "ytick.labelcolor": BLACK,
    "xtick.major.width": 0.7, "ytick.major.width": 0.7, "xtick.minor.size": 0.0, "ytick.minor.size": 0.0,
    "lines.linewidth": 1.2, "lines.markersize": 3.4, "hatch.linewidth": 0.5,
    "figure.constrained_layout.use": True, "figure.constrained_layout.h_pad": 0.06, "figure.constrained_layout.w_pad": 0.06,
    "savefig.dpi": DPI, "svg.hashsalt": "ipcstall", "svg.fonttype": "path", "pdf.fonttype": 42, "path.simplify": True,
    "axes.unicode_minus": True, "text.parse_math": False, "axes.formatter.useoffset": False,
}


def use() -> Any:
    """A context in which figures have this style whatever the user's matplotlibrc says."""
    from matplotlib import style

    return style.context(["default", RC])


def close(figure: Any) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)


def curve(i: int) -> Dict[str, Any]:
    colour, marker, line = CURVES[i % len(CURVES)]
    return {"color": colour, "marker": marker, "linestyle": line, "markeredgecolor": "white", "markeredgewidth": 0.3}


def state_patch(name: str) -> Dict[str, Any]:
    colour, hatch = STATES.get(name, (GREY, "ooo"))
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white" if hatch else colour, "linewidth": 0.0}


def legend_above(ax: Any, columns: int = 4, room: float = 400, from_edge: bool = False, **more: Any) -> None:
    """A legend between title and axes: it can hide no data. `from_edge`: it begins at the figure's edge, for axes with long labels."""
    handles, labels = (more.pop("handles"), more.pop("labels")) if "handles" in more else ax.get_legend_handles_labels()
    if handles:
        # As many columns of the longest label as fit the page; the points a letter and a handle take are averages.
        longest = max(len(str(text)) for text in labels)
        columns = max(1, min(columns, len(handles), int(room / (4.3 * longest + 34))))
        if from_edge:
            from matplotlib.transforms import blended_transform_factory

            more["bbox_transform"] = blended_transform_factory(ax.figure.transFigure, ax.transAxes)
        ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.01), ncol=columns, columnspacing=1.4, **more)


def beware(figure: Any, remarks: Sequence[str]) -> None:
    """Below everything, in room of its own."""
    if remarks:
        figure.supxlabel("\n".join(remarks), x=0.988, ha="right", fontsize=6.5, color=VERMILLION)


def title(ax: Any, text: str) -> None:
    """The title goes on the figure, above whatever legend the axes carry."""
    ax.figure.suptitle(text, x=0.012, ha="left", fontsize=RC["axes.titlesize"], fontweight="bold")


