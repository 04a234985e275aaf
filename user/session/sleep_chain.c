// SPDX-License-Identifier: GPL-2.0-only
#include "session/sleep_chain.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "session/doing.h"

#define LOOKS 8

static bool is_in_chain(const struct asleep *first, pid_t pid)
{
	if (pid == first->pid)
		return true;
	for (size_t i = 0; i < first->n_chain; i++)
		if (first->chain[i].pid == pid)
			return true;
	return false;
}

/* Threads of a pool wait for the same server, if they wait. */
#define THREADS_MOST 64
#define SERVERS_MOST 8 /* descriptors that are asked for */

struct threads {
	struct asleep v[THREADS_MOST];
	size_t n;
};

static void look_at_threads(struct threads *t, pid_t pid, uint64_t deadline)
{
	pid_t tids[THREADS_MOST];

	t->n = asleep_threads(pid, tids, THREADS_MOST);
	for (size_t i = 0; i < t->n; i++)
		t->v[i] = (struct asleep){ .pid = pid, .tid = tids[i] };
	for (int k = 0; k < LOOKS && now_ns() < deadline; k++) {
		for (size_t i = 0; i < t->n; i++)
			asleep_look(&t->v[i]);
		nanosleep(&(struct timespec){ .tv_nsec = DOING_APART_NS / 2 }, NULL);
	}
	for (size_t i = 0; i < t->n; i++)
		asleep_sort(&t->v[i]);
}

/* The thread that sleeps until a server answers it; NULL: none does, or they have several. */
static const struct asleep *only_asker(const struct threads *t)
{
	const struct asleep *asker = NULL;
	pid_t server = 0;
	int asked = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct asleep *a = &t->v[i];
		pid_t other;

		if (!asleep_at_fd(a) || a->writes)
			continue;
		other = asked++ < SERVERS_MOST ? trace_fd_server(a->pid, a->fd) : -1;
		if (other < 0 || (other && server && other != server))
			return NULL;
		asker = other ? a : asker;
		server = other ? other : server;
	}
	return asker;
}

static bool may_be_asked_for(const struct asleep *a)
{
	return !a->stopped && (!a->tid || asleep_seems_idle(a)) && !asleep_at_fd(a) &&
	       2 * a->busiest_ns <= a->over_ns;
}

/* Nobody knows which of its threads counts, or that one is idle: another may work on the request,
 * and wait for a server. */
static void ask_threads(struct asleep *a, uint64_t deadline)
{
	struct threads *t = may_be_asked_for(a) ? calloc(1, sizeof(*t)) : NULL;
	const struct asleep *asker;

	if (!t)
		return;
	look_at_threads(t, a->pid, deadline);
	asker = only_asker(t);
	if (asker && asker->tid != a->tid) {
		struct asleep of = *asker;

		of.over_ns = a->over_ns;
		of.busiest = a->busiest;
		of.busiest_ns = a->busiest_ns;
		of.no_cpu_ns = a->no_cpu_ns;
		of.quota_ns = a->quota_ns;
		of.is_one_of_many = true;
		*a = of;
	}
	free(t);
}

/* What the process does. */
static struct asleep looked_at(pid_t pid, uint64_t deadline)
{
	struct asleep a = { .pid = pid, .tid = asleep_only_thread(pid) };
	struct cpu_book before = {}, after = {}, none = {};

	cpu_book_make(&before, &none, &pid, 1);
	if (a.tid)
		doing_look(&a, LOOKS, deadline, NULL);
	cpu_book_make(&after, &before, &pid, 1);
	doing_cpu(&a, &before, &after);
	cpu_book_free(&before);
	cpu_book_free(&after);
	ask_threads(&a, deadline);
	return a;
}

static void note_end(struct asleep *first, const struct asleep *last)
{
	if (last->stopped) {
		first->end = ASLEEP_END_STOPPED;
	} else if ((last->looks && 2 * last->running >= last->looks) ||
		   (last->over_ns && 2 * last->busiest_ns >= last->over_ns)) {
		first->end = ASLEEP_END_RUNS;
	} else if (last->n && 2 * last->v[0].found >= last->looks) {
		first->end = ASLEEP_END_SLEEPS;
		first->end_call = last->v[0];
	}
}

void sleep_chain_follow(struct asleep *a, uint64_t deadline)
{
	struct asleep at;

	ask_threads(a, deadline);
	at = *a;
	while (a->n_chain < ASLEEP_CHAIN && !at.stopped && asleep_at_fd(&at) &&
	       now_ns() + LOOKS * DOING_APART_NS < deadline) {
		pid_t next = trace_fd_other_end(at.pid, at.fd, at.writes);
		struct asleep_process *to = &a->chain[a->n_chain];

		if (next && is_in_chain(a, next)) {
			a->n_chain = 0;
			return;
		}
		if (!next)
			break;
		at = looked_at(next, deadline);
		to->pid = next;
		asleep_comm(next, to->comm);
		a->n_chain++;
	}
	if (a->n_chain)
		note_end(a, &at);
}
