// SPDX-License-Identifier: GPL-2.0-only
#include "sight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* slot k of a histogram is [2^(k-1), 2^k) us; the delayed-ACK timer's minimum is 40 ms */
enum { SLOT_40MS = 16 };

static void sight_identity(struct trace_sight *out, const struct trace_endpoint *ep, const struct trace_snapshot *s)
{
	out->serial = ep->serial;
	out->inode = ep->inode;
	out->netns = ep->netns;
	out->proto = (uint8_t)ep->proto;
	out->family = (uint8_t)ep->family;
	out->local = ep->local;
	out->remote = ep->remote;
	out->peer = ep->peer >= 0 ? s->ep[ep->peer].serial : 0;
	out->born_ns = ep->born_ns;
	out->at_ns = ep->at_ns;
	out->closed = ep->closed;
	out->joined_late = ep->joined_late;
}

static void sight_users(struct trace_sight *out, const struct trace_endpoint *ep)
{
	out->tx_tgid = ep->txb.tgid;
	out->rx_tgid = ep->rxb.tgid;
	memcpy(out->tx_comm, ep->txb.comm, sizeof(out->tx_comm));
	memcpy(out->rx_comm, ep->rxb.comm, sizeof(out->rx_comm));
	out->cgroup_id = ep->txb.cgroup_id ? ep->txb.cgroup_id : ep->rxb.cgroup_id;
}

static void sight_figures(struct trace_sight *out, const struct trace_endpoint *ep)
{
	memcpy(out->tx_ns, ep->tx.ns, sizeof(out->tx_ns));
	memcpy(out->rx_ns, ep->rx.ns, sizeof(out->rx_ns));
	memcpy(out->delack_ns, ep->blame.delack_ns, sizeof(out->delack_ns));
	memcpy(out->unread_ns, ep->blame.unread_ns, sizeof(out->unread_ns));
	out->tx_now = (uint8_t)ep->tx.now;
	out->rx_now = (uint8_t)ep->rx.now;
	out->tx_bytes = ep->txb.bytes;
	out->tx_messages = ep->txb.messages;
	out->rx_bytes = ep->rxb.bytes;
	out->rx_messages = ep->rxb.messages;
	out->blocked_ns = ep->txb.blocked_ns;
	out->retransmits = ep->retransmits;
	for (int i = 0; i < TRACE_DROPS; i++)
		out->drops += ep->drops[i];
	for (int i = 0; i < TRACE_HIST; i++)
		out->nagle_n += ep->tx.hist[TX_NAGLE][i];
	out->nagle_delack_n = ep->tx.hist[TX_NAGLE][SLOT_40MS];
}

static bool make_room(struct trace_sights *s, size_t n)
{
	struct trace_sight *p;

	if (n <= s->room)
		return true;
	p = realloc(s->v, n * sizeof(*p));
	if (!p)
		return false;
	s->v = p;
	s->room = n;
	return true;
}

static int from_snapshot(struct trace *t, struct trace_sights *s, struct trace_error *e)
{
	struct trace_snapshot snap;

	if (trace_snapshot(t, &snap, e))
		return -1;
	trace_forget_closed(t);
	if (!make_room(s, snap.n)) {
		trace_snapshot_free(&snap);
		return fail_sys(e, ENOMEM, "cannot take a look", "free some memory");
	}
	s->at_ns = snap.at_ns;
	s->counters = snap.counters;
	s->n = snap.n;
	memset(s->v, 0, snap.n * sizeof(*s->v));
	for (size_t i = 0; i < snap.n; i++) {
		sight_identity(&s->v[i], &snap.ep[i], &snap);
		sight_users(&s->v[i], &snap.ep[i]);
		sight_figures(&s->v[i], &snap.ep[i]);
	}
	trace_snapshot_free(&snap);
	return 0;
}

int trace_look(struct trace *t, struct trace_sights *s, struct trace_error *e)
{
	memset(e, 0, sizeof(*e));
	return from_snapshot(t, s, e);
}

void trace_sights_free(struct trace_sights *s)
{
	free(s->v);
	*s = (struct trace_sights){};
}
