// SPDX-License-Identifier: GPL-2.0-only
#include "export/groups.h"
#include "base/array.h"
#include "verdict/other_findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A group that was idle for IDLE_NS may make room for another. One that ever stalled stays for
 * STALLED_IDLE_NS, since users want its figures most. */
#define IDLE_NS		20000000000ull
#define STALLED_IDLE_NS 120000000000ull
#define STALLED_FROM_NS 1000000ull

int groups_init(struct groups *g, size_t max, size_t cgroup_depth,
		bool (*cgroup_path)(uint64_t id, char *buf, size_t size))
{
	*g = (struct groups){ .max = max,
			      .cgroup_depth = cgroup_depth,
			      .cgroup_path = cgroup_path };
	g->v = array_new(max, 1, sizeof(*g->v));
	for (int p = 0; p < TRACE_PROTOS; p++) {
		g->other[p] = (struct group){ .proto = (enum trace_proto)p, .other = true };
		snprintf(g->other[p].process, sizeof(g->other[p].process), "other");
		snprintf(g->other[p].cgroup, sizeof(g->other[p].cgroup), "other");
	}
	return g->v ? 0 : -1;
}

void groups_free(struct groups *g)
{
	free(g->v);
	trace_packed_free(&g->last);
	*g = (struct groups){};
}

/* ---- which group ---- */

/* "/a/b/c" to the first `depth` components; 0 keeps none */
static void cut_path(char *path, size_t depth)
{
	char *p = path;

	if (!depth) {
		path[0] = '\0';
		return;
	}
	for (size_t i = 0; p && i < depth; i++)
		p = strchr(p + 1, '/');
	if (p)
		*p = '\0';
}

static void name_group(const struct groups *g, const struct trace_call_stats *who,
		       struct group *out)
{
	if (who->tgid)
		snprintf(out->process, sizeof(out->process), "%.16s", who->comm);
	else
		snprintf(out->process, sizeof(out->process), "unknown");
	if (!who->cgroup_id || !g->cgroup_path(who->cgroup_id, out->cgroup, sizeof(out->cgroup)))
		snprintf(out->cgroup, sizeof(out->cgroup), "unknown");
	cut_path(out->cgroup, g->cgroup_depth);
}

static bool same_group(const struct group *a, const struct group *b)
{
	return a->proto == b->proto && !strcmp(a->process, b->process) &&
	       !strcmp(a->cgroup, b->cgroup);
}

static bool has_stalled(const struct group *g)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < TX_N; i++)
		ns += tx_is_stall(i) ? g->tx_ns[i] : 0;
	return ns >= STALLED_FROM_NS;
}

static bool may_retire(const struct group *g, uint64_t now)
{
	return !g->endpoints && !g->had_endpoints &&
	       g->used_ns + (has_stalled(g) ? STALLED_IDLE_NS : IDLE_NS) <= now;
}

/* The place of the longest idle group, if one has been idle long enough. */
static struct group *retire(struct groups *g, uint64_t now)
{
	struct group *oldest = NULL;

	for (size_t i = 0; i < g->n; i++)
		if (may_retire(&g->v[i], now) && (!oldest || g->v[i].used_ns < oldest->used_ns))
			oldest = &g->v[i];
	g->retired += oldest != NULL;
	return oldest;
}

static struct group *look_up(struct groups *g, const struct trace_endpoint *ep,
			     const struct trace_call_stats *who)
{
	struct group want = { .proto = ep->proto }, *at;

	name_group(g, who, &want);
	for (size_t i = 0; i < g->n; i++)
		if (same_group(&g->v[i], &want))
			return &g->v[i];
	at = g->n < g->max ? &g->v[g->n++] : retire(g, ep->at_ns);
	if (!at)
		return &g->other[ep->proto < TRACE_PROTOS ? ep->proto : 0];
	*at = want;
	return at;
}

/* Endpoints of one program are adjacent, so most belong to the group that was found last. */
static bool is_memo(const struct group_memo *m, const struct trace_endpoint *ep,
		    const struct trace_call_stats *who)
{
	return m->group && m->proto == ep->proto && m->cgroup_id == who->cgroup_id &&
	       m->seen == (who->tgid != 0) && !memcmp(m->comm, who->comm, sizeof(m->comm));
}

static struct group *find(struct groups *g, const struct trace_endpoint *ep,
			  const struct trace_call_stats *who)
{
	if (!is_memo(&g->memo, ep, who)) {
		g->memo = (struct group_memo){ .group = look_up(g, ep, who),
					       .proto = ep->proto,
					       .cgroup_id = who->cgroup_id,
					       .seen = who->tgid };
		memcpy(g->memo.comm, who->comm, sizeof(g->memo.comm));
	}
	g->memo.group->used_ns = ep->at_ns; /* before another look-up may retire it */
	return g->memo.group;
}

/* ---- adding ---- */

/* A difference that is negative was a correction of the kernel half; a counter does not fall. */
static void add(uint64_t *sum, uint64_t difference)
{
	if ((int64_t)difference > 0)
		*sum += difference;
}

static void tally(struct tally *to, uint64_t difference, bool known)
{
	add(&to->sum, difference);
	to->lacks |= !known;
}

static void add_tx(struct group *to, const struct trace_endpoint *d)
{
	for (unsigned int i = 0; i < TX_N; i++) {
		add(&to->tx_ns[i], d->tx.ns[i]);
		add(&to->delack_ns[i], d->blame.delack_ns[i]);
		add(&to->unread_ns[i], d->blame.unread_ns[i]);
		if (tx_is_stall(i))
			add(&to->starved_ns[trace_vote(i)], d->blame.starved_ns[trace_vote(i)]);
		to->tx_known[i] |= d->tx.resolution[i] != TRACE_UNKNOWN;
	}
	tally(&to->sent_bytes, d->tx_calls.bytes, d->tx_calls.bytes_res != TRACE_UNKNOWN);
	tally(&to->sent, d->tx_calls.messages, trace_messages_known(&d->tx_calls));
	tally(&to->blocked_ns, d->tx_calls.blocked_ns, d->tx_calls.blocked_res != TRACE_UNKNOWN);
	tally(&to->runq_ns, d->tx_calls.runq_ns, d->tx_calls.runq_res != TRACE_UNKNOWN);
	add(&to->retransmits, d->retransmits);
	to->retransmits_known |= d->retransmits_res != TRACE_UNKNOWN;
}

static void add_rx(struct group *to, const struct trace_endpoint *d)
{
	for (unsigned int i = 0; i < RX_N; i++) {
		add(&to->rx_ns[i], d->rx.ns[i]);
		to->rx_known[i] |= d->rx.resolution[i] != TRACE_UNKNOWN;
	}
	tally(&to->received_bytes, d->rx_calls.bytes, d->rx_calls.bytes_res != TRACE_UNKNOWN);
	tally(&to->received, d->rx_calls.messages, trace_messages_known(&d->rx_calls));
	tally(&to->runq_ns, d->rx_calls.runq_ns, d->rx_calls.runq_res != TRACE_UNKNOWN);
	for (int i = 0; i < TRACE_DROPS; i++)
		add(&to->drops, d->drops[i]);
	to->drops_known |= d->drops_res != TRACE_UNKNOWN;
}

static void add_stalls(struct groups *g, const struct trace_endpoint *d)
{
	const uint32_t(*hist)[TRACE_HIST] = trace_detail(d)->tx_hist;

	for (unsigned int s = 0; s < TX_N; s++) {
		struct stall_hist *h = &g->stalls[d->proto < TRACE_PROTOS ? d->proto : 0][s];

		if (!tx_is_stall(s))
			continue;
		add(&h->ns, d->tx.ns[s]);
		for (int i = 0; i < TRACE_HIST; i++)
			if ((int32_t)hist[s][i] > 0)
				h->n[i] += hist[s][i];
	}
}

struct whole_life {
	uint64_t open_sleep_ns;
	bool waited_for; /* did the other end wait? the five times may span intervals */
};

static void add_withheld_acks(struct group *to, const struct trace_endpoint *d,
			      const struct whole_life *whole)
{
	to->delack_known |= d->proto == TRACE_TCP && d->delack_res != TRACE_UNKNOWN;
	if (whole->waited_for)
		add(&to->withheld_ack_ns, d->answers.ns);
}

/* The tx half counts for the writer, the rx half for the reader. If one was never seen, the
 * other gets both. */
static void add_endpoint(struct groups *g, const struct trace_endpoint *d,
			 const struct whole_life *whole, bool is_new)
{
	const struct trace_call_stats *writer = d->tx_calls.tgid ? &d->tx_calls : &d->rx_calls,
				      *reader = d->rx_calls.tgid ? &d->rx_calls : &d->tx_calls;
	struct group *tx = find(g, d, writer), *rx = writer == reader ? tx : find(g, d, reader);

	add_tx(tx, d);
	add_rx(rx, d);
	add_withheld_acks(rx, d, whole);
	add_stalls(g, d);
	tx->endpoints += !d->closed;
	tx->open_sleep_ns += whole->open_sleep_ns;
	g->folded += is_new && (tx->other || rx->other);
}

/* Adds the sums of closed endpoints that were not kept. Their programs are unknown:
 * process=other. */
static void add_rest(struct groups *g, const struct trace_snapshot *d)
{
	for (int p = 0; d->rest && p < TRACE_PROTOS; p++) {
		if (!d->rest[p].tx.lifetime_ns)
			continue;
		add_tx(&g->other[p], &d->rest[p]);
		add_rx(&g->other[p], &d->rest[p]);
		add_stalls(g, &d->rest[p]);
		g->other[p].used_ns = d->at_ns;
	}
}

/* Clears the figures that cover live endpoints only and are counted anew each time. */
static void forget_living(struct group *g)
{
	g->had_endpoints = g->endpoints;
	g->endpoints = 0;
	g->open_sleep_ns = 0;
}

static void forget_endpoints(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		forget_living(&g->v[i]);
	for (int p = 0; p < TRACE_PROTOS; p++)
		forget_living(&g->other[p]);
}

/* The figures that are needed of the whole life, not of the time since the last snapshot. */
static struct whole_life *whole_lives(const struct trace_snapshot *s)
{
	struct whole_life *v = array_new(s->n, 0, sizeof(*v));

	for (size_t i = 0; v && i < s->n; i++)
		v[i] = (struct whole_life){ s->ep[i].tx_calls.open_sleep_ns,
					    was_waited_for(&s->ep[i]) };
	return v;
}

int groups_add(struct groups *g, struct trace_snapshot *s)
{
	struct whole_life *whole = whole_lives(s);
	uint64_t last_ns = g->last.head.at_ns;

	if (!whole || trace_next_phase(s, &g->last)) {
		free(whole);
		return -1;
	}
	forget_endpoints(g);
	for (size_t i = 0; i < s->n; i++)
		add_endpoint(g, &s->ep[i], &whole[i], s->ep[i].born_ns >= last_ns);
	add_rest(g, s);
	trace_snapshot_free(s);
	free(whole);
	return 0;
}
