// SPDX-License-Identifier: GPL-2.0-only
#include "model/verdict.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "model/blame.h"
#include "model/chain.h"
#include "model/ring.h"
#include "model/party.h"
#include "model/unstalled.h"

uint64_t ledger_stall_ns(const struct trace_ledger *tx)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TX_N; i++)
		if (tx_is_stall(i))
			sum += tx->ns[i];
	return sum;
}

bool endpoint_sent(const struct trace_endpoint *ep)
{
	return ep->txb.bytes || ep->txb.messages || ledger_stall_ns(&ep->tx) || ep->tx.ns[TX_WORK] || ep->tx.ns[TX_FLIGHT];
}

bool endpoint_did_anything(const struct trace_endpoint *ep)
{
	return endpoint_sent(ep) || ep->rxb.bytes || ep->rx.ns[RX_WAIT] || ep->rx.ns[RX_WORK] || ep->rx.ns[RX_UNREAD];
}

static int by_stall(const void *a, const void *b, void *snapshot)
{
	const struct trace_snapshot *s = snapshot;
	uint64_t x = ledger_stall_ns(&s->ep[*(const size_t *)a].tx), y = ledger_stall_ns(&s->ep[*(const size_t *)b].tx);

	return x < y ? 1 : x > y ? -1 : 0;
}

size_t *endpoints_by_stall(const struct trace_snapshot *s, size_t *n)
{
	size_t *order = calloc(s->n + 1, sizeof(*order));

	*n = 0;
	for (size_t i = 0; order && i < s->n; i++)
		if (endpoint_did_anything(&s->ep[i]))
			order[(*n)++] = i;
	if (*n)
		qsort_r(order, *n, sizeof(*order), by_stall, (void *)s);
	return order;
}

static bool is_local_ipc(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE || ep->family == AF_UNIX;
}

bool other_end_seen(const struct trace_endpoint *ep)
{
	return ep->peer >= 0 || ep->paired;
}

static bool reads_known(const struct trace_endpoint *ep)
{
	return ep->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN;
}

/* whoever reads what goes out there, in a call at least once or, of a socket, as an endpoint */
static bool reader_seen(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE ? ep->rxb.tgid && reads_known(ep) : other_end_seen(ep);
}

/* Where its reads are not seen (MPTCP, splice()), what lay unread there says nothing. */
static uint64_t unread_ns(const struct trace_snapshot *s, const struct trace_endpoint *ep, enum tx_state cause)
{
	return ep->peer >= 0 && !reads_known(&s->ep[ep->peer]) ? 0 : ep->blame.unread_ns[cause];
}

static void lay_blame(const struct trace_snapshot *s, const struct trace_endpoint *ep, struct finding *f)
{
	const struct trace_beside *reader = party_reader(s, ep);
	struct blame_judged j = blame_judge(&(struct blame_facts){
		.cause = f->cause,
		.ns = f->ns,
		.delack_ns = ep->blame.delack_ns[f->cause],
		.unread_ns = unread_ns(s, ep, f->cause),
		.gathered_ns = ep->blame.gathered_ns,
		.gathered_n = ep->blame.gathered_n,
		.writer_starved_ns = blame_starved(&ep->txb),
		.reader_starved_ns = reader ? blame_starved(reader) : 0,
		.count = f->count,
		.rtt_ns = blame_round_trip(ep->rtt_us, ep->min_rtt_us),
		.both_ends = reader_seen(ep),
		.local_ipc = is_local_ipc(ep),
		.like_delack = f->peaks_at_delack,
	});

	f->blamed = j.blamed;
	f->surety = j.surety;
	f->blamed_ns = j.ns;
	if (j.blamed == BLAME_OWN_WRITES)
		f->blamed_n = ep->blame.gathered_n;
	else if (j.blamed == BLAME_NO_CPU || j.blamed == BLAME_PEER_NO_CPU)
		f->blamed_n = f->count; /* not counted by stall */
	else if (j.ns)
		f->blamed_n = j.blamed == BLAME_PEER_DELACK ? ep->blame.delack_n[f->cause] : ep->blame.unread_n[f->cause];
}

/* Most of what was sent again was the request for a connection; or nothing was, and it was given up before that. */
static bool waits_for_syn(const struct trace_endpoint *ep)
{
	return ep->syn_retransmits * 2 > ep->retransmits || (!ep->retransmits && !ep->timeouts && !ep->txb.bytes && !ep->rxb.bytes);
}

static void fill(const struct trace_snapshot *s, size_t i, unsigned int cause, struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[i];

	*f = (struct finding){
		.endpoint = i,
		.cause = cause,
		.ns = ep->tx.ns[cause],
		.max_ns = ep->tx.max[cause],
		.count = ep->tx.count[cause],
		.share = ep->tx.lifetime_ns ? (double)ep->tx.ns[cause] / (double)ep->tx.lifetime_ns : 0,
		.peer = ep->peer,
		.ring = -1,
		.unanswered_syn = cause == TX_RECOVERY && waits_for_syn(ep),
		.peaks_at_delack = ep->proto == TRACE_TCP && blame_like_delack(ep->tx.hist[cause][TRACE_SLOT_DELACK], ep->tx.ns[cause]),
	};
	lay_blame(s, ep, f);
}

/* Insert in order, the largest first; the smallest falls off the end. */
static void keep(struct verdict *v, const struct finding *f)
{
	size_t at = v->n;

	while (at > 0 && v->v[at - 1].ns < f->ns)
		at--;
	if (at >= FINDINGS_MAX)
		return;
	if (v->n < FINDINGS_MAX)
		v->n++;
	memmove(&v->v[at + 1], &v->v[at], (v->n - 1 - at) * sizeof(*f));
	v->v[at] = *f;
}

static void find_stalls(const struct trace_snapshot *s, size_t i, double min_share, uint64_t min_ns, struct verdict *out)
{
	for (unsigned int c = 0; c < TX_N; c++) {
		struct finding f;

		if (!tx_is_stall(c) || s->ep[i].tx.ns[c] < min_ns)
			continue;
		fill(s, i, c, &f);
		if (f.share >= min_share)
			keep(out, &f);
	}
}

/* what is known of a pipe's writers is their calls alone: resolution_unseen() */
static bool writers_unseen(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->tx.resolution[TX_SNDBUF] == TRACE_UNKNOWN && !ep->tx.ns[TX_SNDBUF];
}

/* A wait that dwarfs what stalled is what the user came for, and no part of it. */
#define DWARFS 2

static bool dwarfs_stalls(const struct verdict *v)
{
	uint64_t stalled = v->n ? v->v[0].ns : v->scattered.ns;

	return v->wait.ns > DWARFS * stalled;
}

static void find_unstalled(const struct trace_snapshot *s, double min_share, uint64_t min_ns, struct verdict *out)
{
	const struct reader_spell none = { .endpoint = -1 };

	out->loss = find_loss(s);
	out->withheld = find_withheld_ack(s, min_share, min_ns);
	out->starved = find_starved(s, min_ns);
	out->late = out->n ? none : find_late_reader(s, min_ns);	/* a sender that was seen speaks for itself */
	out->wait = find_long_wait(s, min_ns, !out->sent);
	if (!dwarfs_stalls(out))
		out->wait = none;
}

/* What no stall is worth the word for alone. */
static void find_scattered(const uint64_t by_cause[TX_N], double min_share, uint64_t min_ns, struct verdict *out)
{
	struct scattered sum = { .ns = out->stall_ns, .share = out->lifetime_ns ? (double)out->stall_ns / (double)out->lifetime_ns : 0 };

	if (out->n || sum.ns < min_ns || sum.share < min_share)
		return;
	for (unsigned int c = 0; c < TX_N; c++) {
		if (!tx_is_stall(c) || by_cause[c] <= sum.cause_ns)
			continue;
		sum.cause = c;
		sum.cause_ns = by_cause[c];
	}
	out->scattered = sum;
}

static void add_sender(const struct trace_endpoint *ep, uint64_t by_cause[TX_N], struct verdict *out)
{
	out->sent = true;
	out->stall_ns += ledger_stall_ns(&ep->tx);
	out->lifetime_ns += ep->tx.lifetime_ns;
	for (unsigned int c = 0; c < TX_N; c++)
		by_cause[c] += ep->tx.ns[c];
}

void verdict_make(const struct trace_snapshot *s, double min_share, uint64_t min_ns, struct verdict *out)
{
	uint64_t by_cause[TX_N] = {};

	memset(out, 0, sizeof(*out));
	out->stall_ns = s->counters.dropped_stall_ns;
	out->lifetime_ns = s->counters.dropped_lifetime_ns;
	out->sent = out->lifetime_ns;
	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		out->unaccounted_ns += llabs(ep->tx.unaccounted_ns) + llabs(ep->rx.unaccounted_ns);
		if (!endpoint_sent(ep))
			continue;
		if (writers_unseen(ep)) {
			out->n_unknown++;
			continue;
		}
		add_sender(ep, by_cause, out);
		find_stalls(s, i, min_share, min_ns, out);
	}
	find_scattered(by_cause, min_share, min_ns, out);
	find_unstalled(s, min_share, min_ns, out);
	verdict_link(s, out);
	verdict_rings(s, out);
}
