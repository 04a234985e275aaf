// SPDX-License-Identifier: GPL-2.0-only
/* Of a sampled session, how long each endpoint's reader ran on a CPU, waited for one, or was
 * stopped: no look sees that, and a reader that is slow because it works is not one that does not
 * read. Known for processes of one thread, from the first snapshot that has the endpoint on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tracer/internal.h"

/* as the scheduler keeps them; ran_ns 0: unknown */
struct process_times {
	uint64_t ran_ns, waited_ns;
	bool stopped;
};

struct reader_cpu {
	uint64_t serial;
	pid_t pid;
	size_t at; /* index in the snapshot */
	struct process_times first, now; /* at the first snapshot that had it, and now */
};

static bool read_line(pid_t pid, const char *file, char *line, int len)
{
	char path[40];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fgets(line, len, f);
	fclose(f);
	return ok;
}

/* of a process of one thread */
static struct process_times times_of(pid_t pid)
{
	/* after the name: the state, and threads as the 18th */
	static const char fields[] =
		" %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %lu";
	struct process_times t = {};
	unsigned long threads;
	char line[1024], state;
	const char *at;

	if (!read_line(pid, "stat", line, sizeof(line)))
		return t;
	at = strrchr(line, ')');
	if (!at || sscanf(at + 1, fields, &state, &threads) != 2 || threads != 1)
		return t;
	t.stopped = state == 'T' || state == 't';
	if (!read_line(pid, "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%" SCNu64 " %" SCNu64, &t.ran_ns, &t.waited_ns) != 2)
		t.ran_ns = 0;
	return t;
}

static int by_pid(const void *a, const void *b)
{
	const struct reader_cpu *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_serial(const void *a, const void *b)
{
	const struct reader_cpu *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
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

/* each process is asked once */
static void ask_processes(const struct trace_snapshot *s, struct reader_cpu *v, size_t n)
{
	struct process_times now = {};

	qsort(v, n, sizeof(*v), by_pid);
	for (size_t i = 0; i < n; i++) {
		if (!i || v[i].pid != v[i - 1].pid)
			now = times_of(v[i].pid);
		if (!s->ep[v[i].at].closed)
			v[i].now = now;
	}
}

/* Of an endpoint that closed, what was known last stays. */
static void take_over(struct reader_cpu *now, const struct reader_cpu *then)
{
	bool same = then && then->pid == now->pid;

	now->first = same && then->first.ran_ns ? then->first : now->now;
	if (same && !now->now.ran_ns)
		now->now = then->now;
}

/* one process reads and writes there */
static void same_for_writer(struct trace_call_stats *out, const struct trace_call_stats *in)
{
	out->cpu_ns = in->cpu_ns;
	out->no_cpu_ns = in->no_cpu_ns;
	out->cpu_res = in->cpu_res;
	out->no_cpu_res = in->no_cpu_res;
	out->stopped_ns = in->stopped_ns;
	out->stopped_max_ns = in->stopped_max_ns;
	out->stopped_n = in->stopped_n;
}

static void fill(struct trace_endpoint *ep, const struct reader_cpu *r)
{
	struct trace_call_stats *b = &ep->rx_calls;

	if (!r->first.ran_ns || r->now.ran_ns < r->first.ran_ns ||
	    r->now.waited_ns < r->first.waited_ns) /* its number is another's by now */
		return;
	b->cpu_ns = r->now.ran_ns - r->first.ran_ns;
	b->no_cpu_ns = r->now.waited_ns - r->first.waited_ns;
	b->cpu_res = b->no_cpu_res = TRACE_BOUNDED;
	if (r->first.stopped && r->now.stopped && !b->cpu_ns) {
		b->stopped_ns = b->stopped_max_ns = ep->rx.lifetime_ns;
		b->stopped_n = 1;
	}
	if (ep->proto != TRACE_PIPE && ep->tx_calls.tgid == b->tgid)
		same_for_writer(&ep->tx_calls, b);
}

void reader_cpu_fill(struct trace *t, struct trace_snapshot *s)
{
	struct reader_cpu *v = t->numbered ? NULL : array_new(s->n, 1, sizeof(*v));
	size_t n = v ? list_readers(s, v) : 0;

	if (!v)
		return;
	ask_processes(s, v, n);
	for (size_t i = 0; i < n; i++) {
		take_over(&v[i], t->n_readers ? bsearch(&v[i], t->readers, t->n_readers,
							sizeof(*v), by_serial)
					      : NULL);
		fill(&s->ep[v[i].at], &v[i]);
	}
	qsort(v, n, sizeof(*v), by_serial);
	free(t->readers);
	t->readers = v;
	t->n_readers = n;
}
