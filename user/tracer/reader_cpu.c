// SPDX-License-Identifier: GPL-2.0-only
/* Of a sampled session, how long each endpoint's reader ran on a CPU: no look sees that, and a
 * reader that is slow because it works is not one that does not read. Known for processes of one
 * thread, from the first snapshot that has the endpoint on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "tracer/internal.h"

struct reader_cpu {
	uint64_t serial;
	pid_t pid;
	size_t at; /* index in the snapshot */
	uint64_t first_ns, ns; /* at the first snapshot that had it, and now; 0: unknown */
};

#define NS_PER_S 1000000000ull

static uint64_t process_cpu_ns(pid_t pid)
{
	/* from the state on: user time is the 12th, kernel time the 13th, threads the 18th */
	static const char fields[] =
		" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %lu";
	unsigned long user, kernel, threads;
	char path[32], line[1024];
	const char *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	if (!at || sscanf(at + 1, fields, &user, &kernel, &threads) != 3)
		return 0;
	return threads == 1 ? (user + kernel) * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)) : 0;
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
	uint64_t ns = 0;

	qsort(v, n, sizeof(*v), by_pid);
	for (size_t i = 0; i < n; i++) {
		if (!i || v[i].pid != v[i - 1].pid)
			ns = process_cpu_ns(v[i].pid);
		v[i].ns = s->ep[v[i].at].closed ? 0 : ns;
	}
}

/* Of an endpoint that closed, what was known last stays. */
static void take_over(struct reader_cpu *now, const struct reader_cpu *then)
{
	bool same = then && then->pid == now->pid;

	now->first_ns = same && then->first_ns ? then->first_ns : now->ns;
	now->ns = same && !now->ns ? then->ns : now->ns;
}

static void fill(struct trace_endpoint *ep, const struct reader_cpu *r)
{
	if (!r->first_ns || r->ns < r->first_ns)
		return;
	ep->rx_calls.cpu_ns = r->ns - r->first_ns;
	ep->rx_calls.cpu_res = TRACE_BOUNDED;
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
