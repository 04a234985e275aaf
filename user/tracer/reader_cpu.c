// SPDX-License-Identifier: GPL-2.0-only
/* Sampled session: how long each endpoint's reader ran on a CPU, waited for one, or was stopped. No
 * sample shows that, and a reader that is slow because it works is not one that does not read.
 * /proc has it by thread. If it is unknown which of several threads reads, the busiest gives the
 * most that the reader can have run. */
#include <stdlib.h>
#include <sys/param.h>

#include "base/array.h"
#include "base/clock.h"
#include "tracer/internal.h"

#define ASK_SHARE 0.2 /* of the budget is for these questions to /proc */
#define COVERED	  0.8 /* of an endpoint's life: else nothing is known */

struct reader_cpu {
	uint64_t serial;
	pid_t pid, tid;
	size_t at; /* index in the snapshot */
	uint64_t covered_ns; /* of the endpoint's life; the sums are of this time */
	uint64_t ran_ns, no_cpu_ns, turns, quota_ns, busiest_ns;
	uint64_t stopped_ns, stop_ns, longest_stop_ns; /* stop_ns: of the stop that goes on */
	uint32_t stops;
};

ORDER_BY(by_serial, struct reader_cpu, serial)

static int by_number(const void *a, const void *b)
{
	return COMPARE(*(const pid_t *)a, *(const pid_t *)b);
}

/* Lists the readers, with what was known of each at the last snapshot. */
static size_t list_readers(const struct trace *t, const struct trace_snapshot *s,
			   struct reader_cpu *v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_call_stats *b = &s->ep[i].rx_calls;
		struct reader_cpu *now = &v[n], *then;

		if (!b->tgid || b->cpu_res != TRACE_UNKNOWN)
			continue;
		*now = (struct reader_cpu){ .serial = s->ep[i].serial };
		then = t->readers.n ? bsearch(now, t->readers.v, t->readers.n, sizeof(*now),
					      by_serial)
				    : NULL;
		if (then)
			*now = *then;
		now->pid = b->tgid;
		now->tid = b->tid;
		now->at = i;
		n++;
	}
	return n;
}

/* how much of the time from `from` to `to` the endpoint lived */
static uint64_t lived_ns(const struct trace_endpoint *ep, uint64_t from, uint64_t to)
{
	uint64_t born = ep->at_ns - ep->rx.lifetime_ns, end = ep->closed ? ep->at_ns : to;

	from = MAX(from, born);
	end = MIN(end, to);
	return end > from ? end - from : 0;
}

/* Asks each process once, if one of its endpoints has lived since the last time. */
static void ask_processes(struct cpu_book *book, const struct cpu_book *last,
			  const struct trace_snapshot *s, const struct reader_cpu *v, size_t n)
{
	pid_t *pids = array_new(n, 1, sizeof(*pids));
	size_t asked = 0, each = 0;

	for (size_t i = 0; pids && i < n; i++)
		if (lived_ns(&s->ep[v[i].at], last->at_ns, UINT64_MAX))
			pids[asked++] = v[i].pid;
	if (pids)
		qsort(pids, asked, sizeof(*pids), by_number);
	for (size_t i = 0; i < asked; i++)
		if (!each || pids[each - 1] != pids[i])
			pids[each++] = pids[i];
	cpu_book_make(book, last, pids, each);
	free(pids);
}

static void add_stop(struct reader_cpu *r, const struct process_cpu *p, uint64_t ns)
{
	if (!p->stopped) {
		r->stop_ns = 0;
		return;
	}
	if (!p->was_stopped) /* when it began since then is not known */
		return;
	r->stops += !r->stop_ns;
	r->stop_ns += ns;
	r->stopped_ns += ns;
	r->longest_stop_ns = MAX(r->longest_stop_ns, r->stop_ns);
}

static uint64_t part(uint64_t ns, double share)
{
	return (uint64_t)((double)ns * share);
}

/* What happened between the two times, as far as the endpoint lived then. */
static void add_up(struct reader_cpu *r, const struct trace_endpoint *ep,
		   const struct cpu_book *book, const struct cpu_book *last)
{
	const struct process_cpu *p = cpu_book_find(book, r->pid);
	uint64_t ns = lived_ns(ep, last->at_ns, book->at_ns);
	bool is_sole = p && p->n_threads == 1, is_known;
	struct thread_cpu did;
	uint64_t quota_ns;
	double share;

	if (!ns || !cpu_book_thread(book, last, r->pid, is_sole ? 0 : r->tid, &did))
		return;
	share = (double)ns / (double)(book->at_ns - last->at_ns);
	is_known = is_sole || (r->tid && did.tid == r->tid);
	r->covered_ns += ns;
	add_stop(r, p, ns);
	quota_ns = part(MIN(p->throttled_since_ns, did.waited_ns), share);
	r->quota_ns += quota_ns;
	/* a quota holds every thread: whichever reads */
	r->no_cpu_ns += is_known ? part(did.waited_ns, share) : quota_ns;
	if (is_known) {
		r->ran_ns += part(did.ran_ns, share);
		r->turns += part(did.turns, share);
	} else {
		r->busiest_ns += part(did.ran_ns + did.waited_ns, share);
	}
}

/* One process reads and writes there, so its figures hold for both directions. */
static void same_for_writer(struct trace_call_stats *out, const struct trace_call_stats *in)
{
	out->cpu_ns = in->cpu_ns;
	out->no_cpu_ns = in->no_cpu_ns;
	out->quota_ns = in->quota_ns;
	out->cpu_turns = in->cpu_turns;
	out->cpu_res = in->cpu_res;
	out->no_cpu_res = in->no_cpu_res;
	out->stopped_ns = in->stopped_ns;
	out->stopped_max_ns = in->stopped_max_ns;
	out->stopped_n = in->stopped_n;
}

static void fill(struct trace_endpoint *ep, const struct reader_cpu *r)
{
	struct trace_call_stats *b = &ep->rx_calls;

	if (!r->covered_ns || (double)r->covered_ns < COVERED * (double)ep->rx.lifetime_ns)
		return;
	b->busiest_cpu_ns = r->busiest_ns;
	b->cpu_ns = r->ran_ns;
	b->cpu_res = r->busiest_ns ? TRACE_UNKNOWN : TRACE_BOUNDED;
	b->no_cpu_ns = r->no_cpu_ns;
	b->quota_ns = r->quota_ns;
	b->cpu_turns = r->turns;
	b->no_cpu_res = TRACE_BOUNDED;
	b->stopped_ns = r->stopped_ns;
	b->stopped_max_ns = r->longest_stop_ns;
	b->stopped_n = r->stops;
	if (ep->proto != TRACE_PIPE && ep->tx_calls.tgid == b->tgid)
		same_for_writer(&ep->tx_calls, b);
}

static void ask(struct trace *t, const struct trace_snapshot *s, struct reader_cpu *v, size_t n)
{
	bool again = t->readers.book.at_ns; /* the first time there is nothing to compare with */
	uint64_t before = thread_cpu_ns(), cost;
	struct cpu_book book;

	if (snapshot_now() < t->readers.next_ns)
		return;
	ask_processes(&book, &t->readers.book, s, v, n);
	for (size_t i = 0; i < n && again; i++)
		add_up(&v[i], &s->ep[v[i].at], &book, &t->readers.book);
	cpu_book_free(&t->readers.book);
	t->readers.book = book;
	cost = thread_cpu_ns() - before;
	sampler_spent(t, cost);
	if (again)
		t->readers.next_ns =
			snapshot_now() + gap_for_share(0, cost, ASK_SHARE * t->opts.budget);
}

void reader_cpu_fill(struct trace *t, struct trace_snapshot *s)
{
	struct reader_cpu *v = t->numbered ? NULL : array_new(s->n, 1, sizeof(*v));
	size_t n = v ? list_readers(t, s, v) : 0;

	if (!v)
		return;
	ask(t, s, v, n);
	for (size_t i = 0; i < n; i++)
		fill(&s->ep[v[i].at], &v[i]);
	qsort(v, n, sizeof(*v), by_serial);
	free(t->readers.v);
	t->readers.v = v;
	t->readers.n = n;
}

void reader_cpu_free(struct trace *t)
{
	free(t->readers.v);
	cpu_book_free(&t->readers.book);
	t->readers.v = NULL;
	t->readers.n = 0;
}
