# SPDX-License-Identifier: GPL-2.0-only
"""The commands. Each is a function and a row."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import tempfile
from typing import Any, List, Optional, Sequence

from . import __version__
from .errors import AnalysisError, INTERRUPTED, IO, NOISY, usage
from .options import PROGRAM, Parser
from .output import say, write
from .text import clean, file_name, for_screen

KEPT_DPI = 130
SPEAKER = os.environ.get("IPCSTALL_PROGRAM") or "analysis"


def _request(args: argparse.Namespace) -> Any:
    from .figures.request import Request

    return Request(fix=args.fix, title=args.title and clean(args.title), x=args.x, y=args.y, test=args.test,
                   start_ns=None if args.start is None else args.start * 1e6, end_ns=None if args.end is None else args.end * 1e6)


def _room_for_matplotlib() -> None:
    """Where the home directory cannot be written, matplotlib would complain on every run; its cache then lives as long as the program."""
    if "MPLCONFIGDIR" in os.environ or os.access(os.path.expanduser("~"), os.W_OK):
        return
    try:
        os.environ["MPLCONFIGDIR"] = where = tempfile.mkdtemp(prefix="ipcstall-")
    except OSError as e:
        raise AnalysisError(IO, f"temporary directory: cannot be made: {e.strerror}; name one with TMPDIR") from None
    atexit.register(shutil.rmtree, where, ignore_errors=True)


def cmd_figure(args: argparse.Namespace) -> int:
    from .figures import KINDS
    from .figures.render import form_of, to_bytes
    from .load import load_documents, load_timeline

    form = form_of(args.output)
    kind, request = KINDS[args.kind], _request(args)
    if kind.timeline:
        if len(args.files) != 1:
            raise usage(f"figure {kind.name}: one timeline file is needed, {len(args.files)} were named; draw them one by one")
        request.timeline = load_timeline(args.files[0])
        _remark(args.files[0], request.timeline.remarks)
    else:
        request.documents = load_documents(args.files, args.mixed)
        for d in request.documents:
            _remark(d.path, [*d.remarks, *d.warnings])
    figure = kind.draw(request)
    for r in request.remarks:
        say(f"{SPEAKER}: figure {kind.name}: {r}")
    write(args.output, to_bytes(figure, form, args.dpi))
    return 0


def cmd_report(args: argparse.Namespace) -> int:
    from .report.build import build

    write(args.output, build(args.files, _request(args), args.mixed, args.output, args.copies))
    return 0


def cmd_summary(args: argparse.Namespace) -> int:
    from .load import load
    from .summary import summarise

    text = "\n".join(summarise(load(path), args.fix, args.brief) for path in args.files)
    write("-", for_screen(text))
    return 0


def cmd_compare(args: argparse.Namespace) -> int:
    from .changes import compare
    from .load import load_documents

    a, b = load_documents([args.a, args.b], args.mixed)
    a.path, b.path = args.called or (a.path, b.path)
    write("-", for_screen(compare(a, b)))
    return 0


def cmd_export(args: argparse.Namespace) -> int:
    from .export import FORMS
    from .export.folded import of_trace
    from .load import load, load_timeline
    from .model import Document

    found = load(args.file) if args.form == "folded" else None
    if isinstance(found, Document) and found.kind == "trace":
        write(args.output, of_trace(found))
    else:
        write(args.output, FORMS[args.form](load_timeline(args.file)))
    return 0


def cmd_experiment(args: argparse.Namespace) -> int:
    from .experiment.answer import answer, text, to_json
    from .experiment.keep import keep
    from .experiment.page import draw, page
    from .experiment.plan import read_plan

    plan, where = read_plan(args.file), args.data
    if args.pilot:
        from .experiment.pilot import reckon

        return reckon(plan, where, args.pilot, args.quick)
    if plan.rows:
        from .experiment.seed import seed

        return seed(plan, where, args.quick)
    if args.keep:
        where = os.path.join(args.keep, plan.name)
        keep(plan, args.data, where)
    found = answer(plan, where, args.quick)
    report = os.path.join(where, "report.html")
    pictures = draw(found, where, ("png",) if args.keep else ("svg", "png"), KEPT_DPI if args.keep else 0.0)
    if not args.keep:
        write(report, page(found, pictures, report))
    write(os.path.join(where, "answer.json"), (json.dumps(to_json(found), indent=1, ensure_ascii=False) + "\n").encode())
    write("-", for_screen(text(found) + ("" if args.keep else f"Report: {clean(report)}\n")))
    return NOISY if found.verdict == "not decided" else 0


def cmd_experiments(args: argparse.Namespace) -> int:
    from .experiment.index import index

    write(args.output, index(args.directory).encode())
    return 0


def _remark(path: str, remarks: Sequence[str]) -> None:
    for r in remarks:
        say(f"{SPEAKER}: {file_name(path)}: {r}")


def _experiment_parsers(commands: "argparse._SubParsersAction[Parser]") -> None:
    experiment = commands.add_parser(
        "experiment", help="answer an experiment from its data (ipcstall experiment calls this)"
    )
    experiment.add_argument("file", metavar="FILE")
    experiment.add_argument(
        "--data", required=True, metavar="DIR",
        help="where its sweeps are; figures, report and answer go there too",
    )
    experiment.add_argument("--quick", action="store_true", help="the data are of the quick form")
    experiment.add_argument("--pilot", metavar="RUN",
                            help="write DIR/RUN.repeats: how many repeats this run needs, "
                            "judged by its pilot")
    experiment.add_argument(
        "--keep", metavar="DIR", help="keep data, figures and answer small in DIR/NAME instead"
    )
    experiment.set_defaults(run=cmd_experiment)

    experiments = commands.add_parser(
        "experiments", help="the table of experiments whose results are kept, as Markdown"
    )
    experiments.add_argument("directory", nargs="?", default="docs/experiments", metavar="DIR")
    experiments.add_argument("-o", "--output", default="-", metavar="OUT")
    experiments.set_defaults(run=cmd_experiments)


def _parser() -> Parser:
    from .export import FORMS
    from .figures import ROWS

    kinds = "\n".join(f"  {k.name:<11} {k.help}" for k in ROWS)
    top = Parser(prog=PROGRAM, description="Figures and reports from ipcstall's JSON.")
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(metavar="COMMAND", required=True, dest="command")

    figure = commands.add_parser("figure", help="draw one figure", description="Kinds:\n" + kinds,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    figure.add_argument("kind", choices=[k.name for k in ROWS], metavar="KIND")
    figure.add_argument("files", nargs="+", metavar="FILE")
    figure.add_argument("-o", "--output", required=True, metavar="OUT", help="OUT.svg or OUT.png")
    figure.add_argument("--dpi", type=_dpi, default=0.0, help="of a PNG (default 200)")
    figure.set_defaults(run=cmd_figure)

    report = commands.add_parser("report", help="write one self-contained HTML file")
    report.add_argument("files", nargs="+", metavar="FILE")
    report.add_argument("-o", "--output", required=True, metavar="OUT.html")
    report.add_argument("--copies", action="store_true",
                        help="the files will be deleted: link only to the copies inside the page")
    report.set_defaults(run=cmd_report)
    for sub in (figure, report):
        _common(sub)

    summary = commands.add_parser("summary", help="print what a file says, as text")
    summary.add_argument("files", nargs="+", metavar="FILE")
    summary.add_argument("--fix", metavar="NAME=VALUE", help="which value of which variable is the fix (default: guessed)")
    summary.add_argument("--brief", action="store_true", help="only the findings and the dips")
    summary.set_defaults(run=cmd_summary)

    compare = commands.add_parser("compare", help="what changed between two results, sweeps or traces, with intervals and a test")
    compare.add_argument("a", metavar="A")
    compare.add_argument("b", metavar="B")
    compare.add_argument("--mixed", action="store_true", help="accept files from different machines")
    compare.add_argument("--called", nargs=2, metavar="NAME",
                         help="names of the two files in the output")
    compare.set_defaults(run=cmd_compare)

    _experiment_parsers(commands)
    export = commands.add_parser("export", help="turn a timeline (folded: or a trace with stalls) into what other viewers open")
    export.add_argument("form", choices=list(FORMS), metavar="|".join(FORMS))
    export.add_argument("file", metavar="FILE")
    export.add_argument("-o", "--output", required=True, metavar="OUT", help="a file, or - for standard output")
    export.set_defaults(run=cmd_export)
    return top


def _common(sub: Parser) -> None:
    sub.add_argument("--fix", metavar="NAME=VALUE", help="which value of which variable is the fix (default: guessed)")
    sub.add_argument("--mixed", action="store_true", help="accept files from different machines; the output marks it")
    sub.add_argument("--title", help="instead of the figure's own")
    sub.add_argument("--test", choices=("latency", "oneway", "connect", "throughput"), help="box, cdf, curve and ledger: of which test")
    sub.add_argument("--x", metavar="NAME", help="heatmap, curve: variable across")
    sub.add_argument("--y", metavar="NAME", help="heatmap: variable up; curve: what is drawn")
    sub.add_argument("--from", dest="start", type=_ms, metavar="MS", help="timeline: from this many ms after the first event")
    sub.add_argument("--to", dest="end", type=_ms, metavar="MS", help="timeline: to this many ms after the first event")


def _ranged(text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low:g} to {high:g}")
    return value


def _dpi(text: str) -> float:
    return _ranged(text, 20, 1200)


def _ms(text: str) -> float:
    return _ranged(text, 0, 1e12)


def main(argv: Optional[List[str]] = None) -> int:
    try:
        args = _parser().parse_args(argv)
        _room_for_matplotlib()
        code: int = args.run(args)
        return code
    except AnalysisError as e:
        say(f"{SPEAKER}: {e}")
        return e.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return IO
    except ModuleNotFoundError as e:
        say(f"{SPEAKER}: {e.name} is missing: the figures need it; install what analysis/pyproject.toml lists, or run make deps")
        return 4
