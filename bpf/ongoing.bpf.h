/* SPDX-License-Identifier: GPL-2.0-only */
/* A stall in progress. Blame is determined when a stall ends; for a snapshot before that, it is
 * determined here. */
#ifndef IPCSTALL_ONGOING_BPF_H
#define IPCSTALL_ONGOING_BPF_H

#include "apply.bpf.h"

/* The stall so far, as a step from its state to itself. False: there was none at that time. */
static __always_inline bool stalls_at(const struct endpoint *ep, ns_t at, struct transition *t)
{
	word_t w = LATEST(ep->tx.word);

	t->from = t->to = WORD_STATE(w, DIR_TX);
	t->ns = word_elapsed(w, at);
	return tx_is_stall(t->from) && t->ns;
}

/* Not attached: user space runs it at a session's end, to report a stall that goes on. */
SEC("raw_tp/stall_so_far")
int stall_so_far(struct bpf_raw_tracepoint_args *ctx)
{
	struct endpoint *ep = endpoint_known(ctx->args[0]), *peer;
	struct transition t = {};
	ns_t at = ctx->args[1];

	if (!ep || ep->closed)
		return 0;
	if (!stalls_at(ep, at, &t)) {
		hold_told(ep);
		return 0;
	}
	peer = peer_of(ep);
	if (!ep->held_on.going || ep->held_on.state != t.from)
		hold_is_new(&ep->held_on, t.from, at - t.ns);
	ep->held_on.unread += unread_meanwhile(ep, peer, at);
	ep->held_on.starved += starved_meanwhile(ep, peer, t.ns);
	emit_stall(ep, t.from, at, true);
	return 0;
}

#endif
