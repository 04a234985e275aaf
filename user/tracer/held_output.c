// SPDX-License-Identifier: GPL-2.0-only
/* Finds output of a process that nobody takes. The process may sleep until somebody does,
 * whatever else it waits for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "host/proc.h"
#include "host/sock_diag.h"
#include "tracer/diag_sockets.h"
#include "tracer/internal.h"

#define SOCKETS_MOST 64 /* a server with more waits for no single one */
#define SAMPLES	     3
#define APART_NS     20000000
#define MOST_NS	     100000000 /* CPU time of all samples of the host's sockets */

struct output {
	uint64_t inode[SOCKETS_MOST];
	size_t n;
	bool too_many;
};

static void note_socket(void *ctx, int dir, long fd)
{
	struct output *o = ctx;
	uint64_t inode;
	char name[24], to[32] = "";

	snprintf(name, sizeof(name), "%ld", fd);
	if (readlinkat(dir, name, to, sizeof(to) - 1) <= 0 || strncmp(to, "socket:", 7))
		return;
	inode = text_link_inode(to);
	for (size_t i = 0; i < o->n; i++)
		if (o->inode[i] == inode)
			return;
	if (o->n == SOCKETS_MOST)
		o->too_many = true;
	else
		o->inode[o->n++] = inode;
}

/* what all samples so far found */
struct stuck {
	bool full, unread;
	uint32_t before;
};

/* the search in one process's sockets */
struct search {
	pid_t pid;
	bool asked_only;
	struct diag_sockets all;
	bool has_tcp, has_unix;
	struct trace_snapshot s; /* an endpoint for each of `all` */
	struct stuck stuck[SOCKETS_MOST];
};

static void find(struct search *q)
{
	for (size_t i = 0; i < q->all.n; i++) {
		struct diag_socket *x = &q->all.v[i];

		x->is_connected = x->is_full = x->is_local = false;
		x->unread = 0;
	}
	if (q->has_tcp)
		diag_find_tcp(&q->all);
	if (q->has_unix)
		diag_find_unix(&q->all);
}

/* Notes which kinds of sockets there are, so that later searches leave out the others. */
static void find_kinds(struct search *q)
{
	q->has_tcp = q->has_unix = true;
	find(q);
	q->has_tcp = q->has_unix = false;
	for (size_t i = 0; i < q->all.n; i++) {
		q->has_tcp |= q->all.v[i].ep->proto == TRACE_TCP;
		q->has_unix |= q->all.v[i].is_unix;
	}
}

static void look(struct search *q, int k)
{
	find(q);
	for (size_t i = 0; i < q->all.n; i++) {
		const struct diag_socket *x = &q->all.v[i];
		struct stuck *st = &q->stuck[i];
		bool same = !k || x->unread == st->before;

		st->full = (!k || st->full) && x->is_full;
		st->unread = (!k || st->unread) && x->unread && same;
		st->before = x->unread;
	}
}

static bool is_same_party(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	if (a->making.other_pid || b->making.other_pid)
		return a->making.other_pid == b->making.other_pid;
	return a->proto == TRACE_TCP && b->proto == TRACE_TCP &&
	       !memcmp(&a->remote, &b->remote, sizeof(a->remote));
}

/* A process that passes on what it reads has two parties. If there are more, it is unknown which
 * one keeps it from reading. */
#define PARTIES_MOST 2

static bool has_few_parties(const struct diag_sockets *all)
{
	const struct trace_endpoint *parties[PARTIES_MOST];
	size_t n = 0;

	for (size_t i = 0, k; i < all->n; i++) {
		if (!all->v[i].is_connected)
			continue;
		for (k = 0; k < n && !is_same_party(all->v[i].ep, parties[k]); k++)
			;
		if (k == PARTIES_MOST)
			return false;
		if (k == n)
			parties[n++] = all->v[i].ep;
	}
	return true;
}

/* Is it a request of the process that lies unread, or a connection that takes no more? */
static bool is_held(const struct search *q, size_t i, const struct tcp_turns *turns)
{
	const struct diag_socket *x = &q->all.v[i];

	if (!q->asked_only)
		return q->stuck[i].full;
	return q->stuck[i].unread && diag_awaits_answer(x, turns) && diag_answers(x, q->pid);
}

/* The only held connection, or one of several to the same party; NULL: there is none, or several
 * parties. */
static const struct diag_socket *only_held(const struct search *q)
{
	struct tcp_turns turns = {};
	const struct diag_socket *found = NULL;
	bool several = false;

	if (q->asked_only)
		tcp_turns_read(&turns);
	for (size_t i = 0; i < q->all.n; i++) {
		const struct diag_socket *x = &q->all.v[i];

		if (!is_held(q, i, &turns))
			continue;
		several |= found && !is_same_party(x->ep, found->ep);
		found = x;
	}
	tcp_turns_free(&turns);
	return several ? NULL : found;
}

static bool is_any_stuck(const struct search *q)
{
	for (size_t i = 0; i < q->all.n; i++)
		if (q->asked_only ? q->stuck[i].unread : q->stuck[i].full)
			return true;
	return false;
}

static bool look_at_all(struct search *q, struct trace_held_output *out)
{
	uint64_t before = thread_cpu_ns();
	const struct diag_socket *x;

	find_kinds(q);
	if ((1 + SAMPLES) * (thread_cpu_ns() - before) > MOST_NS)
		return false;
	for (int k = 0; k < SAMPLES; k++) {
		if (k)
			nanosleep(&(struct timespec){ .tv_nsec = APART_NS }, NULL);
		look(q, k);
	}
	if (!is_any_stuck(q))
		return false;
	trace_name_other_ends(&q->s);
	x = q->asked_only || has_few_parties(&q->all) ? only_held(q) : NULL;
	if (!x || x->ep->making.other_shared || x->ep->making.other_pid == q->pid)
		return false;
	*out = (struct trace_held_output){ .reader = x->ep->making.other_pid,
					   .family = x->ep->family,
					   .remote = x->ep->remote };
	return out->reader || (x->ep->proto == TRACE_TCP && !x->is_local);
}

bool trace_held_output(pid_t pid, bool asked_only, struct trace_held_output *out)
{
	struct search q = { .pid = pid, .asked_only = asked_only };
	struct output o = {};
	bool found = false;
	int before;

	if (!proc_numbers(proc_path(pid, "fd").text, note_socket, &o) || !o.n || o.too_many)
		return false;
	q.s.ep = array_new(o.n, 1, sizeof(*q.s.ep));
	q.all.v = array_new(o.n, 1, sizeof(*q.all.v));
	for (size_t i = 0; q.s.ep && q.all.v && i < o.n; i++) {
		q.s.ep[i] =
			(struct trace_endpoint){ .proto = TRACE_UNIX_STREAM, /* or TCP: find() */
						 .inode = o.inode[i],
						 .peer = -1 };
		q.all.v[i] = (struct diag_socket){ .inode = o.inode[i], .ep = &q.s.ep[i] };
	}
	if (q.s.ep && q.all.v) {
		q.s.n = q.all.n = o.n;
		before = sock_diag_enter(pid);
		found = look_at_all(&q, out);
		sock_diag_leave(before);
	}
	free(q.all.v);
	free(q.s.ep);
	return found;
}
