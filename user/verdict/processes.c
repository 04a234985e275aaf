// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/processes.h"

#include <stdlib.h>

#include "base/array.h"
#include "verdict/replies.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/times.h"

static void add_calls(struct process *p, const struct trace_endpoint *ep, bool reads)
{
	const struct trace_call_stats *b = reads ? &ep->rx_calls : &ep->tx_calls;

	if (are_stops_known(b))
		p->stopped_ns = larger(p->stopped_ns, stopped_ns(b));
	*(reads ? &p->reads : &p->writes) += b->bytes > 0;
	p->uncounted |= b->bytes_res == TRACE_UNKNOWN && is_sampled_only(ep);
}

ORDER_BY(by_tgid, struct process, tgid)

static void add_one(struct processes *all, const struct trace_endpoint *ep, bool reads)
{
	struct process *p = &all->v[all->n];
	pid_t tgid = reads ? ep->rx_calls.tgid : ep->tx_calls.tgid;

	if (!tgid)
		return;
	*p = (struct process){ .tgid = tgid };
	add_calls(p, ep, reads);
	all->n++;
}

static void unite(struct processes *all)
{
	size_t n = 0;

	qsort(all->v, all->n, sizeof(*all->v), by_tgid);
	for (size_t i = 0; i < all->n; i++) {
		const struct process *p = &all->v[i];

		if (!n || all->v[n - 1].tgid != p->tgid) {
			all->v[n++] = *p;
			continue;
		}
		all->v[n - 1].stopped_ns = larger(all->v[n - 1].stopped_ns, p->stopped_ns);
		all->v[n - 1].reads += p->reads;
		all->v[n - 1].writes += p->writes;
		all->v[n - 1].uncounted |= p->uncounted;
	}
	all->n = n;
}

struct processes processes_find(const struct trace_snapshot *s)
{
	struct processes all = { .v = array_new(s->n, s->n, sizeof(*all.v)) };

	for (size_t i = 0; all.v && i < s->n; i++) {
		add_one(&all, &s->ep[i], true);
		add_one(&all, &s->ep[i], false);
	}
	if (all.v)
		unite(&all);
	return all;
}

/* without the index */
static struct process search(const struct trace_snapshot *s, pid_t tgid)
{
	struct process p = { .tgid = tgid };

	for (size_t i = 0; i < s->n; i++) {
		if (s->ep[i].rx_calls.tgid == tgid)
			add_calls(&p, &s->ep[i], true);
		if (s->ep[i].tx_calls.tgid == tgid)
			add_calls(&p, &s->ep[i], false);
	}
	return p;
}

struct process process_of(const struct trace_snapshot *s, pid_t tgid)
{
	struct process want = { .tgid = tgid }, *p;

	if (!tgid)
		return want;
	if (!s->processes || !s->processes->v)
		return search(s, tgid);
	p = bsearch(&want, s->processes->v, s->processes->n, sizeof(want), by_tgid);
	return p ? *p : want;
}
