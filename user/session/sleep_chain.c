// SPDX-License-Identifier: GPL-2.0-only
#include "session/sleep_chain.h"

#include <stdlib.h>
#include <sys/param.h>
#include <time.h>

#include "base/clock.h"
#include "host/proc.h"
#include "render/names.h"
#include "session/doing.h"

#define LOOKS	4
#define LOOK_NS (2 * LOOKS * DOING_APART_NS) /* on a busy host */

struct follower {
	uint64_t deadline;
	const struct zoom_stop *stop;
};

static bool has_time(const struct follower *f)
{
	return now_ns() + LOOK_NS < f->deadline && !(f->stop && f->stop->asked(f->stop->ctx));
}

/* ---- of several threads the one that waits for another process ---- */

#define THREADS_MOST 128

struct threads {
	struct asleep v[THREADS_MOST];
	size_t n;
};

static void look_at_threads(struct threads *t, pid_t pid, const struct follower *f)
{
	pid_t tids[THREADS_MOST];

	t->n = asleep_threads(pid, tids, THREADS_MOST);
	for (size_t i = 0; i < t->n; i++)
		t->v[i] = (struct asleep){ .pid = pid, .tid = tids[i] };
	for (int k = 0; k < LOOKS && now_ns() < f->deadline; k++) {
		for (size_t i = 0; i < t->n; i++)
			asleep_look(&t->v[i]);
		nanosleep(&(struct timespec){ .tv_nsec = DOING_APART_NS }, NULL);
	}
	for (size_t i = 0; i < t->n; i++)
		asleep_sort(&t->v[i]);
}

/* A thread that sleeps until a server answers; NULL: there is none, or they have several servers.
 */
static const struct asleep *asker_of(const struct threads *t, pid_t pid)
{
	struct trace_fd_server asked[THREADS_MOST];
	size_t by[THREADS_MOST], n = 0;
	const struct asleep *asker = NULL;
	pid_t server = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct asleep *a = &t->v[i];

		if (!asleep_at_fd(a) || a->v[0].writes)
			continue;
		by[n] = i;
		asked[n++].fd = a->v[0].fd;
	}
	if (n)
		trace_fd_servers(pid, asked, n);
	for (size_t k = 0; k < n; k++) {
		if (!asked[k].server)
			continue;
		if (server && asked[k].server != server)
			return NULL;
		server = asked[k].server;
		asker = &t->v[by[k]];
	}
	return asker;
}

/* Where others wait until the process reads: a thread that sleeps until it can write. NULL: there
 * is none, or they write to several. */
static const struct asleep *blocked_writer(const struct threads *t, pid_t pid)
{
	const struct asleep *writer = NULL;
	pid_t reader = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct asleep *a = &t->v[i];
		pid_t other;

		if (!asleep_at_fd(a) || !a->v[0].writes)
			continue;
		other = trace_fd_other_end(pid, a->v[0].fd, true);
		if (!other || (reader && other != reader))
			return NULL;
		reader = other;
		writer = a;
	}
	return writer;
}

/* Of a process whose output nobody takes: a thread that polls. */
static const struct asleep *held_poller(const struct threads *t, pid_t pid, bool to_read)
{
	struct trace_held_output held;

	for (size_t i = 0; i < t->n; i++)
		if (asleep_for_events(&t->v[i]))
			return trace_held_output(pid, !to_read, &held) ? &t->v[i] : NULL;
	return NULL;
}

/* Nobody knows which of its threads counts, or one that takes requests has none to take: another
 * may work on a request. One that computes, or sleeps for a lock, is the answer by itself. */
static bool may_have_asker(const struct asleep *a)
{
	return !a->stopped && (!a->tid || asleep_seems_idle(a)) && !asleep_at_fd(a) &&
	       2 * a->busiest_ns <= a->over_ns;
}

static void be_thread(struct asleep *a, const struct asleep *thread)
{
	a->tid = thread->tid;
	a->is_one_of_many = true;
	a->looks = thread->looks;
	a->running = thread->running;
	a->disk = thread->disk;
	a->n = thread->n;
	for (size_t i = 0; i < a->n; i++)
		a->v[i] = thread->v[i];
}

static void look_for_thread(struct asleep *a, bool to_read, const struct follower *f)
{
	bool several = may_have_asker(a) && !asleep_only_thread(a->pid);
	struct threads *t = several ? calloc(1, sizeof(*t)) : NULL;
	const struct asleep *one;

	if (!t)
		return;
	look_at_threads(t, a->pid, f);
	one = asker_of(t, a->pid);
	if (!one && to_read)
		one = blocked_writer(t, a->pid);
	if (!one)
		one = held_poller(t, a->pid, to_read);
	if (one && one->tid != a->tid)
		be_thread(a, one);
	free(t);
}

/* ---- the chain ---- */

static struct asleep looked_at(pid_t pid, pid_t tid, const struct follower *f)
{
	struct asleep a = { .pid = pid, .tid = tid };
	struct cpu_book before = {}, after = {}, none = {};

	cpu_book_make(&before, &none, &pid, 1);
	doing_look(&a, LOOKS, f->deadline, f->stop);
	cpu_book_make(&after, &before, &pid, 1);
	doing_cpu(&a, &before, &after);
	cpu_book_free(&before);
	cpu_book_free(&after);
	return a;
}

static bool is_in_chain(const struct asleep *first, pid_t pid)
{
	if (pid == first->pid)
		return true;
	for (size_t i = 0; i < first->n_chain; i++)
		if (first->chain[i].pid == pid)
			return true;
	return false;
}

static void note_end(struct asleep *first, const struct asleep *last)
{
	if (last->stopped) {
		first->end = ASLEEP_END_STOPPED;
	} else if ((last->looks && 2 * last->running >= last->looks) ||
		   (last->over_ns && 2 * last->busiest_ns >= last->over_ns)) {
		first->end = ASLEEP_END_RUNS;
	} else if (last->n && 2 * asleep_in_call(last, 0) >= last->looks) {
		first->end = ASLEEP_END_SLEEPS;
		first->end_nr = last->v[0].nr;
		first->end_no_files = last->v[0].no_files;
		first->end_is_one_of_many = last->is_one_of_many;
	}
}

static bool is_same_sleep(const struct asleep *a, const struct asleep *now)
{
	if (asleep_for_events(a))
		return asleep_for_events(now);
	return asleep_at_fd(a) && asleep_at_fd(now) && a->v[0].nr == now->v[0].nr &&
	       a->v[0].fd == now->v[0].fd;
}

/* Two that sleep for each other are told by the ledger, with what each of them owes. */
static void note_circle(struct asleep *first)
{
	if (first->n_chain == 1)
		first->n_chain = 0;
	else
		first->end = ASLEEP_END_CIRCLE;
}

/* Whom it sleeps for; 0: nobody knows, or `full` names the other host. Who is to read may have sent
 * more than anybody takes; who is to send may have a request that was not read. */
static pid_t sleeps_for(const struct asleep *a, bool *to_read, struct trace_held_output *full)
{
	struct trace_held_output held;

	if (asleep_at_fd(a)) {
		*to_read = a->v[0].writes;
		return trace_fd_other_end(a->pid, a->v[0].fd, a->v[0].writes);
	}
	if (!asleep_for_events(a) || !trace_held_output(a->pid, !*to_read, &held))
		return 0;
	*to_read = true;
	if (!held.reader)
		*full = held;
	return held.reader;
}

static void note_full(struct asleep *first, const struct trace_held_output *full)
{
	const struct trace_endpoint ep = { .proto = TRACE_TCP,
					   .family = full->family,
					   .remote = full->remote };

	address_of_peer(&ep, first->end_at, sizeof(first->end_at));
	first->end = ASLEEP_END_FULL;
}

static bool is_followed(const struct asleep *a)
{
	return !a->stopped && (asleep_at_fd(a) || asleep_for_events(a));
}

static void follow(struct asleep *first, struct asleep *at, bool to_read, const struct follower *f)
{
	struct trace_held_output full = {};

	while (first->n_chain < ASLEEP_CHAIN && is_followed(at) && has_time(f)) {
		pid_t next = sleeps_for(at, &to_read, &full);

		if (next && is_in_chain(first, next)) {
			note_circle(first);
			return;
		}
		if (!next)
			break;
		first->chain[first->n_chain].pid = next;
		process_comm(next, first->chain[first->n_chain++].comm);
		*at = looked_at(next, asleep_only_thread(next), f);
		look_for_thread(at, to_read, f);
	}
	if (full.remote.port)
		note_full(first, &full);
	else if (first->n_chain)
		note_end(first, at);
}

void sleep_chain_follow(struct asleep *a, bool to_read, uint64_t deadline,
			const struct zoom_stop *stop)
{
	struct follower f = { MIN(deadline, now_ns() + SLEEP_CHAIN_NS), stop };
	struct asleep at;

	a->n_chain = 0;
	a->end = ASLEEP_END_UNKNOWN;
	if (!has_time(&f))
		return;
	look_for_thread(a, to_read, &f);
	if (!is_followed(a))
		return;
	at = a->is_one_of_many ? *a : looked_at(a->pid, a->tid, &f);
	if (is_same_sleep(a, &at))
		follow(a, &at, to_read, &f);
}
