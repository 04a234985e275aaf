// SPDX-License-Identifier: GPL-2.0-only
#include "session/sleep_chain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/clock.h"
#include "host/proc.h"
#include "render/names.h"
#include "session/doing.h"

#define SAMPLES	  4
#define SAMPLE_NS (2 * SAMPLES * DOING_APART_NS) /* on a busy host */

/* what others wait for a process to do */
enum awaited { TO_SEND, TO_READ, TO_END };

/* the last answer of trace_held_output() */
struct held_once {
	pid_t pid;
	enum awaited awaited;
	bool found;
	struct trace_held_output output;
};

/* the last answer of trace_asked_server() */
struct asked_once {
	pid_t pid, tid;
	bool found;
	struct trace_asked server;
};

struct follower {
	uint64_t deadline;
	const struct zoom_stop *stop;
	struct held_once held;
	struct asked_once asked;
};

static bool has_time(const struct follower *f)
{
	return now_ns() + SAMPLE_NS < f->deadline && !(f->stop && f->stop->asked(f->stop->ctx));
}

/* ---- the thread that waits for another process, if there are several ---- */

#define THREADS_MOST 128

struct threads {
	struct asleep v[THREADS_MOST];
	size_t n;
};

static void look_at_threads(struct threads *t, pid_t pid, struct follower *f)
{
	pid_t tids[THREADS_MOST];

	t->n = asleep_threads(pid, tids, THREADS_MOST);
	for (size_t i = 0; i < t->n; i++)
		t->v[i] = (struct asleep){ .pid = pid, .tid = tids[i] };
	for (int k = 0; k < SAMPLES && now_ns() < f->deadline; k++) {
		for (size_t i = 0; i < t->n; i++)
			asleep_sample(&t->v[i]);
		nanosleep(&(struct timespec){ .tv_nsec = DOING_APART_NS }, NULL);
	}
	for (size_t i = 0; i < t->n; i++)
		asleep_sort(&t->v[i]);
}

/* A thread that sleeps until a server answers. NULL: there is none, or the threads wait for
 * several servers. */
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

/* A thread that sleeps until it can write. NULL: there is none, or the threads write to several
 * processes. */
static const struct asleep *blocked_writer(const struct threads *t, pid_t pid,
					   const struct follower *f)
{
	const struct asleep *writer = NULL;
	pid_t reader = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct asleep *a = &t->v[i];
		pid_t other;

		if (!asleep_at_fd(a) || !a->v[0].writes ||
		    (writer && a->v[0].fd == writer->v[0].fd))
			continue;
		if (!has_time(f))
			return NULL;
		other = trace_fd_other_end(pid, a->v[0].fd, true);
		if (!other || (reader && other != reader))
			return NULL;
		reader = other;
		writer = a;
	}
	return writer;
}

/* A thread that reads what a helper writes, a child that began lately. NULL: there is none,
 * or there are several. */
static const struct asleep *reader_of_helper(const struct threads *t, pid_t pid,
					     const struct follower *f)
{
	const struct asleep *reader = NULL;

	for (size_t i = 0; i < t->n && has_time(f); i++) {
		const struct asleep *a = &t->v[i];

		if (!asleep_at_fd(a) || a->v[0].writes ||
		    !trace_is_late_child(pid, trace_fd_other_end(pid, a->v[0].fd, false), 0))
			continue;
		if (reader)
			return NULL;
		reader = a;
	}
	return reader;
}

/* An event loop waits for a helper among other events. Those that it began with are workers. 0:
 * there is none, or another child. */
static pid_t late_only_child(pid_t pid)
{
	pid_t child = process_only_child(pid);

	return child && trace_is_late_child(pid, child, 1) ? child : 0;
}

static const struct trace_held_output *held_output(struct follower *f, pid_t pid,
						   enum awaited awaited)
{
	struct held_once *h = &f->held;

	if (h->pid != pid || h->awaited != awaited) {
		h->pid = pid;
		h->awaited = awaited;
		h->found = has_time(f) && trace_held_output(pid, awaited == TO_SEND, &h->output);
	}
	return h->found ? &h->output : NULL;
}

/* A single sample may find a request that is answered at once, or fall between two requests. */
#define ASKS	   4
#define ENOUGH	   2 /* of these found the same server */
#define ASKS_APART (4 * DOING_APART_NS)
#define ASK_MOST_NS 25000000 /* CPU time of one: a host with very many sockets is not asked again \
			      */

static bool is_same_server(const struct trace_asked *a, const struct trace_asked *b)
{
	return a->family == b->family && !memcmp(&a->remote, &b->remote, sizeof(a->remote));
}

static bool found_enough(struct asked_once *x, struct follower *f)
{
	uint64_t before = thread_cpu_ns();
	struct trace_asked now;
	unsigned int found = 0;

	for (int i = 0; i < ASKS && found < ENOUGH && has_time(f); i++) {
		if (i && thread_cpu_ns() - before > (unsigned int)i * ASK_MOST_NS)
			return false;
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = ASKS_APART }, NULL);
		if (!trace_asked_server(x->pid, x->tid, &now))
			continue;
		found = found && is_same_server(&now, &x->server) ? found + 1 : 1;
		x->server = now;
	}
	return found >= ENOUGH;
}

static const struct trace_asked *asked_server(struct follower *f, pid_t pid, pid_t tid)
{
	struct asked_once *x = &f->asked;

	if (x->pid != pid || x->tid != tid) {
		x->pid = pid;
		x->tid = tid;
		x->found = found_enough(x, f);
	}
	return x->found ? &x->server : NULL;
}

/* If nobody takes the process's output, or it waits for a server: the main thread if it polls,
 * else the only thread that polls. */
static const struct asleep *held_poller(const struct threads *t, pid_t pid, enum awaited awaited,
					struct follower *f)
{
	const struct asleep *poller = NULL;

	for (size_t i = 0; i < t->n; i++) {
		if (!asleep_for_events(&t->v[i]))
			continue;
		if (poller && poller->tid != pid)
			return NULL;
		if (!poller)
			poller = &t->v[i];
	}
	if (!poller || held_output(f, pid, awaited))
		return poller;
	return awaited == TO_SEND && (asked_server(f, pid, poller->tid) || late_only_child(pid))
		       ? poller
		       : NULL;
}

/* A proxy with a thread for each connection: the thread that awaits an answer. NULL: none does, or
 * they await answers of several servers. Each question lists all sockets. */
#define POLLERS_ASKED 8

static const struct asleep *only_asking_poller(const struct threads *t, pid_t pid,
					       struct follower *f)
{
	struct trace_asked server = {}, one;
	const struct asleep *asker = NULL;
	unsigned int asked = 0;

	for (size_t i = 0; i < t->n && has_time(f); i++) {
		if (!asleep_for_events(&t->v[i]))
			continue;
		if (asked++ == POLLERS_ASKED)
			return NULL;
		if (!trace_asked_server(pid, t->v[i].tid, &one))
			continue;
		if (asker && !is_same_server(&one, &server))
			return NULL;
		server = one;
		asker = &t->v[i];
	}
	return asker;
}

/* Several threads of a pool may look up a name at once. */
static const struct asleep *awaits_datagram(const struct threads *t, pid_t pid)
{
	struct trace_asked server;

	for (size_t i = 0; i < t->n; i++)
		if (asleep_at_fd(&t->v[i]) && !t->v[i].v[0].writes &&
		    trace_fd_datagrams(pid, t->v[i].v[0].fd, &server))
			return &t->v[i];
	return NULL;
}

/* Another thread may explain the wait if no thread was sampled, or the sampled one is idle. A
 * thread that computes or sleeps for a lock explains it by itself. */
static bool may_have_asker(const struct asleep *a)
{
	return !a->stopped && (!a->tid || asleep_seems_idle(a)) && !asleep_at_fd(a) &&
	       !asleep_opens(a) && 2 * a->busiest_ns <= a->over_ns;
}

static void be_thread(struct asleep *a, const struct asleep *thread)
{
	asleep_take_samples(a, thread);
	a->is_one_of_many = true;
	a->at_work = false;
}

static void look_for_thread(struct asleep *a, enum awaited awaited, struct follower *f)
{
	bool several = may_have_asker(a) && !asleep_only_thread(a->pid);
	struct threads *t = several ? calloc(1, sizeof(*t)) : NULL;
	const struct asleep *one;

	if (!t)
		return;
	look_at_threads(t, a->pid, f);
	one = asker_of(t, a->pid) ?: reader_of_helper(t, a->pid, f);
	if (!one && awaited != TO_SEND)
		one = blocked_writer(t, a->pid, f);
	if (!one)
		one = held_poller(t, a->pid, awaited, f);
	if (!one && awaited == TO_SEND)
		one = only_asking_poller(t, a->pid, f) ?: awaits_datagram(t, a->pid);
	if (one && one->tid != a->tid)
		be_thread(a, one);
	free(t);
}

/* ---- the chain ---- */

static struct asleep looked_at(pid_t pid, pid_t tid, struct follower *f)
{
	struct asleep a = { .pid = pid, .tid = tid };
	struct cpu_book before = {}, after = {}, none = {};

	cpu_book_make(&before, &none, &pid, 1);
	doing_sample(&a, SAMPLES, f->deadline, f->stop);
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
	} else if ((last->samples && 2 * last->running >= last->samples) ||
		   (last->over_ns && 2 * last->busiest_ns >= last->over_ns)) {
		first->end = ASLEEP_END_RUNS;
	} else if (last->n && 2 * asleep_in_call(last, 0) >= last->samples) {
		first->end = ASLEEP_END_SLEEPS;
		first->end_nr = last->v[0].nr;
		first->end_no_files = last->v[0].no_files;
		first->end_timed_futex = last->v[0].timed_futex;
		if (2 * last->v[0].found >= last->samples)
			memcpy(first->end_path, last->v[0].path, sizeof(first->end_path));
		first->end_is_one_of_many = last->is_one_of_many;
	}
}

static bool is_same_sleep(const struct asleep *a, const struct asleep *now)
{
	if (asleep_opens(a))
		return asleep_opens(now) && !strcmp(a->v[0].path, now->v[0].path);
	if (asleep_for_events(a) || asleep_for_child(a))
		return asleep_for_events(now) == asleep_for_events(a) &&
		       asleep_for_child(now) == asleep_for_child(a);
	return asleep_at_fd(a) && asleep_at_fd(now) && a->v[0].nr == now->v[0].nr &&
	       a->v[0].fd == now->v[0].fd;
}

/* The ledger reports two processes that sleep for each other's data, and what each owes. A
 * process that polls may still answer another request. */
static void note_circle(struct asleep *first, bool polls)
{
	if (polls)
		return;
	if (first->n_chain == 1 && !asleep_for_child(first) && !asleep_opens(first))
		first->n_chain = 0;
	else
		first->end = ASLEEP_END_CIRCLE;
}

/* The end of the chain, if it is on another host */
struct far_end {
	enum asleep_end how; /* ASLEEP_END_UNKNOWN: it does not end there */
	int family;
	struct trace_addr remote;
};

static pid_t asked_by(const struct asleep *a, struct far_end *far, struct follower *f)
{
	const struct trace_asked *x = a->tid ? asked_server(f, a->pid, a->tid) : NULL;

	if (x && !x->server)
		*far = (struct far_end){ ASLEEP_END_ASKED, x->family, x->remote };
	return x ? x->server : 0;
}

/* The server of a connected UDP socket, as of a resolver's */
static pid_t datagrams_of(const struct asleep *a, struct far_end *far)
{
	struct trace_asked x;

	if (!trace_fd_datagrams(a->pid, a->v[0].fd, &x))
		return 0;
	if (!x.server)
		*far = (struct far_end){ ASLEEP_END_ASKED, x.family, x.remote };
	return x.server;
}

static pid_t polls_for(const struct asleep *a, enum awaited *awaited, struct far_end *far,
		       struct follower *f)
{
	const struct trace_held_output *held = held_output(f, a->pid, *awaited);

	if (!held && *awaited == TO_SEND) {
		pid_t server = asked_by(a, far, f);

		return server || far->how ? server : late_only_child(a->pid);
	}
	*awaited = TO_READ;
	if (held && !held->reader)
		*far = (struct far_end){ ASLEEP_END_FULL, held->family, held->remote };
	return held ? held->reader : 0;
}

/* The process that `a` sleeps for; *awaited tells what that process is to do. 0: unknown, or
 * `far` names another host. A process that should read may be blocked itself on output that
 * nobody takes. One that should send may have an unread request, or await an answer itself. */
static pid_t sleeps_for(const struct asleep *a, enum awaited *awaited, struct far_end *far,
			struct follower *f)
{
	if (asleep_at_fd(a)) {
		int fd = a->v[0].fd;
		pid_t other = trace_fd_other_end(a->pid, fd, a->v[0].writes);

		*awaited = a->v[0].writes ? TO_READ : TO_SEND;
		if (!other && !a->v[0].writes)
			other = asked_by(a, far, f);
		return other || far->how || a->v[0].writes ? other : datagrams_of(a, far);
	}
	if (asleep_opens(a)) {
		*awaited = TO_READ;
		return asleep_connects(&a->v[0]) ? trace_full_unix_listener(a->pid, a->v[0].path)
						 : 0;
	}
	if (asleep_for_child(a)) {
		*awaited = TO_END;
		return process_only_child(a->pid);
	}
	return polls_for(a, awaited, far, f);
}

static void note_far_end(struct asleep *first, const struct far_end *far)
{
	const struct trace_endpoint ep = { .proto = TRACE_TCP,
					   .family = far->family,
					   .remote = far->remote };

	address_of_peer(&ep, first->end_at, sizeof(first->end_at));
	first->end = far->how;
}

static bool is_followed(const struct asleep *a)
{
	return !a->stopped &&
	       (asleep_at_fd(a) || asleep_for_events(a) || asleep_for_child(a) || asleep_opens(a));
}

static void follow(struct asleep *first, struct asleep *at, enum awaited awaited,
		   struct follower *f)
{
	struct far_end far = {};
	bool polls = false;

	while (first->n_chain < ASLEEP_CHAIN && is_followed(at) && has_time(f)) {
		pid_t next = sleeps_for(at, &awaited, &far, f);

		first->awaits_waiter = next && !first->n_chain && asleep_has_waiter(first, next);
		if (first->awaits_waiter)
			return;
		if (next && is_in_chain(first, next)) {
			if (first->n_chain)
				note_circle(first, polls || asleep_for_events(at));
			return;
		}
		if (!next)
			break;
		polls |= asleep_for_events(at);
		first->chain[first->n_chain].pid = next;
		process_comm(next, first->chain[first->n_chain++].comm);
		*at = looked_at(next, asleep_only_thread(next), f);
		look_for_thread(at, awaited, f);
	}
	if (far.how)
		note_far_end(first, &far);
	else if (first->n_chain)
		note_end(first, at);
}

void sleep_chain_follow(struct asleep *a, bool to_read, uint64_t deadline,
			const struct zoom_stop *stop)
{
	struct follower f = { .deadline = MIN(deadline, now_ns() + SLEEP_CHAIN_NS), .stop = stop };
	struct asleep at;

	a->n_chain = 0;
	a->awaits_waiter = false;
	a->end = ASLEEP_END_UNKNOWN;
	*a->end_path = '\0';
	if (!has_time(&f))
		return;
	look_for_thread(a, to_read ? TO_READ : TO_SEND, &f);
	if (!is_followed(a))
		return;
	at = a->is_one_of_many ? *a : looked_at(a->pid, a->tid, &f);
	if (is_same_sleep(a, &at))
		follow(a, &at, to_read ? TO_READ : TO_SEND, &f);
}
