// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/process_cpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/array.h"
#include "base/text.h"
#include "host/proc.h"
#include "host/thread_call.h"
#include "tracer/internal.h"

#define THREADS_MOST 256 /* of one with more it is not known what its threads do */

/* The freezer of cgroup v1 puts it to a sleep that no signal wakes. That of v2 puts it to a sleep
 * like any other, in do_freezer_trap(), which the compiler may have put into get_signal(): nothing
 * else sleeps there without being stopped. */
static bool is_frozen(pid_t pid, char state)
{
	if (state == 'D')
		return thread_sleeps_in(pid, pid, "__refrigerator", NULL);
	return state == 'S' && thread_sleeps_in(pid, pid, "do_freezer_trap", "get_signal");
}

/* its state, and when it began */
static void read_state(struct process_cpu *p)
{
	char line[1024], state = 0;
	const char *name_end = text_first_line(proc_path(p->pid, "stat").text, line, sizeof(line))
				       ? strrchr(line, ')')
				       : NULL;

	if (name_end && sscanf(name_end + 1,
			       " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			       "%*s %*s %*s %" SCNu64,
			       &state, &p->born) != 2)
		p->born = 0;
	p->stopped = state == 'T' || state == 't' || is_frozen(p->pid, state);
}

static int by_thread(const void *a, const void *b)
{
	const struct thread_cpu *x = a, *y = b;

	return COMPARE(x->pid, y->pid) ?: COMPARE(x->tid, y->tid);
}

ORDER_BY(by_pid, struct process_cpu, pid)

struct thread_walk {
	struct cpu_book *book;
	pid_t pid;
};

static void ask_thread(void *ctx, int dir, long tid)
{
	struct thread_walk *a = ctx;
	struct thread_cpu now = { .pid = a->pid, .tid = (pid_t)tid };
	struct cpu_book *book = a->book;
	char line[128];

	(void)dir;
	if (!text_first_line(proc_path(a->pid, "task/%ld/schedstat", tid).text, line,
			     sizeof(line)) ||
	    sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &now.ran_ns, &now.waited_ns,
		   &now.turns) != 3)
		return;
	if (array_grow(&book->thread, book->n_threads, &book->room, sizeof(*book->thread)))
		book->thread[book->n_threads++] = now;
}

static uint64_t busy_ns(const struct thread_cpu *t)
{
	return t->ran_ns + t->waited_ns;
}

static struct thread_cpu since(const struct thread_cpu *now, const struct cpu_book *last)
{
	const struct thread_cpu *then =
		last->n_threads ? bsearch(now, last->thread, last->n_threads, sizeof(*now),
					  by_thread)
				: NULL;
	struct thread_cpu did = *now;

	if (then && then->ran_ns <= now->ran_ns && then->waited_ns <= now->waited_ns) {
		did.ran_ns -= then->ran_ns;
		did.waited_ns -= then->waited_ns;
		did.turns -= then->turns;
	}
	return did;
}

bool cpu_book_thread(const struct cpu_book *book, const struct cpu_book *last, pid_t pid, pid_t tid,
		     struct thread_cpu *did)
{
	const struct process_cpu *p = cpu_book_find(book, pid);
	bool found = false;

	*did = (struct thread_cpu){ .pid = pid };
	for (size_t i = 0; p && p->asked_before && i < p->n_threads; i++) {
		const struct thread_cpu *t = &book->thread[p->first_thread + i];
		struct thread_cpu one;

		if (tid && t->tid != tid)
			continue;
		one = since(t, last);
		one.ran_ns = MIN(one.ran_ns, book->at_ns - last->at_ns);
		one.waited_ns = MIN(one.waited_ns, book->at_ns - last->at_ns);
		if (!found || busy_ns(&one) > busy_ns(did))
			*did = one;
		found = true;
	}
	return found;
}

static void compare(struct process_cpu *p, const struct cpu_book *last)
{
	const struct process_cpu *then = cpu_book_find(last, p->pid);

	if (!then || then->born != p->born)
		return;
	p->asked_before = then->n_threads; /* of very many none is asked */
	p->was_stopped = then->stopped;
	if (p->throttled_ns > then->throttled_ns)
		p->throttled_since_ns = p->throttled_ns - then->throttled_ns;
}

static void ask_process(struct cpu_book *book, const struct cpu_book *last, pid_t pid)
{
	struct process_cpu *p = &book->process[book->n_processes];
	struct thread_walk a = { .book = book, .pid = pid };
	size_t first = book->n_threads, n = proc_threads(pid);

	if (!n)
		return;
	*p = (struct process_cpu){ .pid = pid,
				   .first_thread = first,
				   .throttled_ns = cpu_quota_throttled(pid) };
	if (n <= THREADS_MOST)
		proc_numbers(proc_path(pid, "task").text, ask_thread, &a);
	p->n_threads = book->n_threads - first;
	qsort(book->thread + first, p->n_threads, sizeof(*book->thread), by_thread);
	read_state(p);
	compare(p, last);
	book->n_processes++;
}

void cpu_book_make(struct cpu_book *book, const struct cpu_book *last, const pid_t *pids, size_t n)
{
	*book = (struct cpu_book){ .process = array_new(n, 1, sizeof(*book->process)),
				   .at_ns = snapshot_now() };
	for (size_t i = 0; book->process && i < n; i++)
		ask_process(book, last, pids[i]);
}

const struct process_cpu *cpu_book_find(const struct cpu_book *book, pid_t pid)
{
	struct process_cpu want = { .pid = pid };

	return book->n_processes ? bsearch(&want, book->process, book->n_processes, sizeof(want),
					   by_pid)
				 : NULL;
}

void cpu_book_free(struct cpu_book *book)
{
	free(book->process);
	free(book->thread);
	*book = (struct cpu_book){};
}
