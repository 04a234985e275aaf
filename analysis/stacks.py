# SPDX-License-Identifier: GPL-2.0-only
"""The chains of a trace document's single stalls: WHO; CALL STACK; stall:STATE; by:WHOM; ITS STACK. Outermost first, as a flame graph grows."""

from __future__ import annotations

from typing import Dict, List, Tuple

from . import fields
from .errors import usage
from .model import Document

Chain = Tuple[str, ...]


def chains(doc: Document) -> Dict[Chain, int]:
    """Nanoseconds of stall by chain."""
    stalls = fields.array(doc.header, "stalls", doc.path)
    if not stalls:
        raise usage(f"{doc.path}: holds no single stalls; record it with --threshold or --stacks")
    total: Dict[Chain, int] = {}
    for i, item in enumerate(stalls):
        where = f"{doc.path}: stalls[{i}]"
        chain = _chain(fields.obj(item, where), where)
        total[chain] = total.get(chain, 0) + (fields.whole(item, "ns", where) or 0)
    return total


def _chain(stall: fields.Object, where: str) -> Chain:
    out = [_who("", stall, "pid", "comm", where), *_stack(stall, "user_stack", where), *_stack(stall, "kernel_stack", where),
           "stall:" + fields.text(stall, "state", where)]
    if fields.whole(stall, "peer_pid", where):
        blamed = fields.text(stall, "blamed", where)
        out.append(_who("by:" if blamed else "peer:", stall, "peer_pid", "peer_comm", where))
        out += [blamed.removeprefix("peer ")] if blamed else []
        out += [*_stack(stall, "peer_user_stack", where), *_stack(stall, "peer_kernel_stack", where)]
    return tuple(out)


def _who(prefix: str, stall: fields.Object, pid: str, comm: str, where: str) -> str:
    return f"{prefix}{fields.text(stall, comm, where, 'nobody seen')}[{fields.whole(stall, pid, where) or 0}]"


def _stack(stall: fields.Object, key: str, where: str) -> List[str]:
    """Functions without the offset, which would split one function into many."""
    frames = [f if isinstance(f, str) else str(f) for f in fields.array(stall, key, where)]
    return [("k:" if f.endswith("[k]") else "") + f.removesuffix(" [k]").partition("+0x")[0] for f in reversed(frames)]
