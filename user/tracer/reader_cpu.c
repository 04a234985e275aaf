// SPDX-License-Identifier: GPL-2.0-only
/* Of a sampled session, how long each endpoint's reader ran on a CPU, waited for one, or was
 * stopped: no look sees that, and a reader that is slow because it works is not one that does not
 * read. Known from the first snapshot on that names the reader. */
#include <stdlib.h>

#include "base/array.h"
#include "tracer/internal.h"

struct reader_cpu {
	uint64_t serial;
	pid_t pid;
	size_t at; /* index in the snapshot */
	bool known;
	uint64_t ran_ns, waited_ns, quota_ns; /* since it was named there */
	bool stopped;			      /* whenever it was asked */
};

static int by_serial(const void *a, const void *b)
{
	const struct reader_cpu *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static size_t list_readers(const struct trace_snapshot *s, struct reader_cpu *v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->ep[i].rx_calls.tgid && s->ep[i].rx_calls.cpu_res == TRACE_UNKNOWN)
			v[n++] = (struct reader_cpu){ .serial = s->ep[i].serial,
						      .pid = s->ep[i].rx_calls.tgid,
						      .at = i };
	return n;
}

/* each once */
static void ask_processes(struct cpu_book *book, const struct cpu_book *last,
			  const struct reader_cpu *v, size_t n)
{
	pid_t *pids = array_new(n, 1, sizeof(*pids));
	size_t each = 0;

	for (size_t i = 0; pids && i < n; i++)
		pids[i] = v[i].pid;
	if (pids)
		qsort(pids, n, sizeof(*pids), by_number);
	for (size_t i = 0; pids && i < n; i++)
		if (!each || pids[each - 1] != pids[i])
			pids[each++] = pids[i];
	cpu_book_make(book, last, pids, pids ? each : 0);
	free(pids);
}

/* Of an endpoint that closed, or whose reader is gone, what was known last stays. */
static void go_on(struct reader_cpu *now, const struct reader_cpu *then,
		  const struct process_cpu *p, bool closed)
{
	bool same = then && then->pid == now->pid;

	now->stopped = p && p->stopped && (!same || then->stopped);
	if (!then)
		return;
	now->known = then->known;
	now->ran_ns = then->ran_ns;
	now->waited_ns = then->waited_ns;
	now->quota_ns = then->quota_ns;
	if (closed || !same || !p || !p->asked_before)
		return;
	now->known = true;
	now->ran_ns += p->ran_ns;
	now->waited_ns += p->waited_ns;
	now->quota_ns += p->quota_ns;
}

/* one process reads and writes there */
static void same_for_writer(struct trace_call_stats *out, const struct trace_call_stats *in)
{
	out->cpu_ns = in->cpu_ns;
	out->no_cpu_ns = in->no_cpu_ns;
	out->quota_ns = in->quota_ns;
	out->cpu_res = in->cpu_res;
	out->no_cpu_res = in->no_cpu_res;
	out->stopped_ns = in->stopped_ns;
	out->stopped_max_ns = in->stopped_max_ns;
	out->stopped_n = in->stopped_n;
}

static void fill(struct trace_endpoint *ep, const struct reader_cpu *r)
{
	struct trace_call_stats *b = &ep->rx_calls;

	if (!r->known)
		return;
	b->cpu_ns = r->ran_ns;
	b->no_cpu_ns = r->waited_ns;
	b->quota_ns = r->quota_ns;
	b->cpu_res = b->no_cpu_res = TRACE_BOUNDED;
	if (r->stopped && !b->cpu_ns) {
		b->stopped_ns = b->stopped_max_ns = ep->rx.lifetime_ns;
		b->stopped_n = 1;
	}
	if (ep->proto != TRACE_PIPE && ep->tx_calls.tgid == b->tgid)
		same_for_writer(&ep->tx_calls, b);
}

void reader_cpu_fill(struct trace *t, struct trace_snapshot *s)
{
	struct reader_cpu *v = t->numbered ? NULL : array_new(s->n, 1, sizeof(*v)), *then;
	size_t n = v ? list_readers(s, v) : 0;
	struct cpu_book book;

	if (!v)
		return;
	ask_processes(&book, &t->readers.book, v, n);
	for (size_t i = 0; i < n; i++) {
		then = t->readers.n ? bsearch(&v[i], t->readers.v, t->readers.n, sizeof(*v),
					      by_serial)
				    : NULL;
		go_on(&v[i], then, cpu_book_find(&book, v[i].pid), s->ep[v[i].at].closed);
		fill(&s->ep[v[i].at], &v[i]);
	}
	qsort(v, n, sizeof(*v), by_serial);
	reader_cpu_free(t);
	t->readers.v = v;
	t->readers.n = n;
	t->readers.book = book;
}

void reader_cpu_free(struct trace *t)
{
	free(t->readers.v);
	cpu_book_free(&t->readers.book);
	t->readers.v = NULL;
	t->readers.n = 0;
}
