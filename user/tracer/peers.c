// SPDX-License-Identifier: GPL-2.0-only
/* Joins the endpoints of a snapshot to their other ends, and finds who is to blame for stalls that
 * have not ended. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/charge.h"
#include "tracer/endpoint_detail.h"
#include "tracer/peers.h"

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return COMPARE(x->key, y->key) ?: COMPARE(x->born, y->born);
}

/* The first endpoint at the peer's address that had not ended when `self` was born. Of endpoints
 * that had the same address, each ended before the next was born. */
static size_t first_overlap(const struct keyed *k, size_t n, const struct keyed *self)
{
	struct keyed want = { .key = self->peer, .born = self->born };
	size_t at = array_lower_bound(&want, k, n, sizeof(want), by_key);

	while (at > 0 && k[at - 1].key == self->peer && k[at - 1].end >= self->born)
		at--;
	return at;
}

#define MISNAMED -2 /* the endpoint at the peer's address belongs to another connection */

/* The port of each end is the remote port of the other. DNAT may translate a server's port, so one
 * common ephemeral port is enough. */
bool may_be_ends(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	bool there = a->local.port == b->remote.port, back = a->remote.port == b->local.port;
	uint16_t common = there ? a->local.port : a->remote.port;

	if (a->proto != TRACE_TCP || (there && back))
		return true;
	return (there || back) && common >= TRACE_EPHEMERAL_PORT;
}

/* Addresses in the kernel are reused, and the other end may have ended before this one. The peer is
 * an endpoint at that address that lived at the same time, preferably one whose peer is `self`. */
static int find_peer(const struct trace_snapshot *s, const struct keyed *k, size_t n,
		     const struct keyed *self)
{
	int found = -1;

	for (size_t i = first_overlap(k, n, self);
	     i < n && k[i].key == self->peer && k[i].born <= self->end; i++) {
		if (!may_be_ends(&s->ep[self->index], &s->ep[k[i].index])) {
			found = found < 0 ? MISNAMED : found;
			continue;
		}
		if (k[i].peer == self->key)
			return (int)k[i].index;
		if (found < 0)
			found = (int)k[i].index;
	}
	return found;
}

/* If it is not known whether the other end's application read, it cannot be blamed. */
static void withdraw_blame(const struct trace_snapshot *s, struct trace_endpoint *ep)
{
	if (ep->peer < 0 || s->ep[ep->peer].rx.resolution[RX_UNREAD] != TRACE_UNKNOWN)
		return;
	memset(ep->blame.unread_ns, 0, sizeof(ep->blame.unread_ns));
	memset(ep->blame.unread_n, 0, sizeof(ep->blame.unread_n));
}

struct voted {
	pid_t tgid, tid;
	const char *comm;
};

/* as vote_for() of the kernel half */
static void vote_for(struct trace_who *w, struct voted who, uint64_t ns)
{
	ns_t lead = w->lead_ns;
	bool won;

	if (!who.tgid)
		return;
	won = vote_won(&lead, w->tgid == who.tgid, ns);
	w->sum_ns += ns;
	w->second = vote_second(w->second, (unsigned int)w->tgid, (unsigned int)who.tgid, won);
	w->mixed |= w->tgid && w->tgid != who.tgid && strncmp(w->comm, who.comm, sizeof(w->comm));
	if (won) {
		w->tgid = who.tgid;
		w->tid = who.tid;
		memcpy(w->comm, who.comm, sizeof(w->comm));
	}
	w->lead_ns = lead;
}

/* nobody, if several processes hold this end and none was seen to use it */
static struct voted last_there(const struct trace_call_stats *b)
{
	return (struct voted){ !b->tid && b->others ? 0 : b->tgid, b->tid, b->comm };
}

static bool was_given_late(const struct trace_call_stats *b, uint64_t stall, uint64_t to)
{
	return b->giver != b->tgid && 2 * (int64_t)(to - b->given_ns) < (int64_t)stall;
}

/* as reader_was_late() of the kernel half */
static struct voted reader_during(const struct trace_call_stats *reader, uint64_t stall,
				  uint64_t to)
{
	struct voted who = last_there(reader);

	if (reader->left_ns && 2 * (int64_t)(to - reader->left_ns) > (int64_t)stall)
		who.tgid = who.tgid ? TRACE_FD_OWNER : 0;
	else if (was_given_late(reader, stall, to))
		who = (struct voted){ reader->giver, 0, reader->giver_comm };
	return who;
}

/* The kernel half decides who is to blame when a stall ends. For a stall that has not ended, it is
 * decided here. */
static void blame_ongoing(struct trace_snapshot *s, const struct keyed *k)
{
	struct trace_endpoint *ep = &s->ep[k->index];
	const struct trace_call_stats *reader;
	uint64_t unread;

	if (!k->stalled || !detail_of(&s->details, ep))
		return;
	vote_for(&ep->detail->held_up[trace_vote(ep->tx.now)], last_there(&ep->tx_calls),
		 k->stalled);
	if (ep->peer < 0)
		return;
	unread = s->ep[ep->peer].rx.ns[RX_UNREAD];
	unread = unread > k->peer_unread ? unread - k->peer_unread : 0;
	if (!unread)
		return;
	unread = unread < k->stalled ? unread : k->stalled;
	ep->blame.unread_ns[ep->tx.now] += unread;
	ep->blame.unread_n[ep->tx.now]++;
	reader = &s->ep[ep->peer].rx_calls;
	vote_for(&ep->detail->late[trace_vote(ep->tx.now)],
		 reader_during(reader, k->stalled, ep->at_ns), unread);
}

#define UNIX_ROOM (1 << 20) /* more than a Unix socket with default buffers holds */

/* If more than that was sent, and the reader was never seen in a receive call, it reads in a way
 * that no hook sees: by splice(). */
static void stream_audit(const struct trace_snapshot *s, const struct trace_endpoint *sender)
{
	struct trace_endpoint *reader = sender->peer >= 0 && sender->proto == TRACE_UNIX_STREAM
						? &s->ep[sender->peer]
						: NULL;

	if (reader && !reader->rx_calls.messages && sender->tx_calls.bytes > UNIX_ROOM)
		endpoint_reads_missed(reader, sender->tx_calls.bytes - UNIX_ROOM);
}

/* If one end found its peer, it is the peer's peer too, even if the peer's own record names an
 * endpoint that came to that address later. */
static void join_back(struct trace_snapshot *s, const struct keyed *k, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int peer = s->ep[k[i].index].peer;

		if (peer >= 0 && s->ep[peer].peer == MISNAMED)
			s->ep[peer].peer = (int)k[i].index;
	}
	for (size_t i = 0; i < n; i++)
		if (s->ep[k[i].index].peer == MISNAMED)
			s->ep[k[i].index].peer = -1;
}

void peers_join(struct trace_snapshot *s, struct keyed *k)
{
	size_t n = s->n;

	qsort(k, n, sizeof(*k), by_key);
	for (size_t i = 0; i < n; i++) {
		struct trace_endpoint *ep = &s->ep[k[i].index];

		if (ep->proto == TRACE_PIPE)
			ep->peer = (int)k[i].index;
		else if (k[i].peer)
			ep->peer = find_peer(s, k, n, &k[i]);
	}
	join_back(s, k, n);
	for (size_t i = 0; i < n; i++) {
		struct trace_endpoint *ep = &s->ep[k[i].index];

		blame_ongoing(s, &k[i]);
		stream_audit(s, ep);
		withdraw_blame(s, ep);
	}
}

void peers_put(struct trace_snapshot *s, struct keyed *k, const struct endpoint *ep,
	       const struct trace *t)
{
	struct trace_endpoint *out = &s->ep[s->n];

	endpoint_fill(out, ep, t, &s->details);
	if (s->samples)
		copy_samples(&s->samples[s->n], ep);
	k[s->n] = (struct keyed){ ep->id.key, ep->peer,
				  ep->born,   out->closed ? out->at_ns : UINT64_MAX,
				  0,	      ep->peer_unread,
				  s->n };
	if (!out->closed && tx_is_stall(out->tx.now) && out->at_ns > out->tx.since_ns)
		k[s->n].stalled = out->at_ns - out->tx.since_ns;
	s->n++;
}
