// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/process_cpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/array.h"
#include "tracer/internal.h"

#define THREADS_MOST 256 /* of a process with more nothing is known */

static bool read_line(const char *path, char *line, int len)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, len, f);

	if (f)
		fclose(f);
	return ok;
}

static bool is_stopped(pid_t pid)
{
	char path[40], line[1024], state = 0;
	const char *name_end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	name_end = read_line(path, line, sizeof(line)) ? strrchr(line, ')') : NULL;
	return name_end && sscanf(name_end + 1, " %c", &state) == 1 &&
	       (state == 'T' || state == 't');
}

static int by_thread(const void *a, const void *b)
{
	const struct thread_cpu *x = a, *y = b;

	return x->pid == y->pid ? (x->tid > y->tid) - (x->tid < y->tid)
				: (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_pid(const void *a, const void *b)
{
	const struct process_cpu *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct thread_walk {
	struct cpu_book *book;
	pid_t pid;
	size_t n;
};

static struct thread_cpu *one_more(struct cpu_book *book)
{
	if (book->n_threads == book->room) {
		size_t room = book->room ? 2 * book->room : 64;
		struct thread_cpu *more = array_resize(book->thread, room, 0, sizeof(*more));

		if (!more)
			return NULL;
		book->thread = more;
		book->room = room;
	}
	return &book->thread[book->n_threads++];
}

static void ask_thread(void *ctx, int dir, long tid)
{
	struct thread_walk *a = ctx;
	struct thread_cpu now = { .pid = a->pid, .tid = (pid_t)tid }, *place;
	char path[64], line[128];

	(void)dir;
	if (a->n++ >= THREADS_MOST)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%ld/schedstat", (int)a->pid, tid);
	if (!read_line(path, line, sizeof(line)) ||
	    sscanf(line, "%" SCNu64 " %" SCNu64, &now.ran_ns, &now.waited_ns) != 2)
		return;
	place = one_more(a->book);
	if (place)
		*place = now;
}

static uint64_t busy_ns(const struct thread_cpu *t)
{
	return t->ran_ns + t->waited_ns;
}

/* since then; a number may be another thread's by now */
static struct thread_cpu since(const struct thread_cpu *now, const struct cpu_book *last)
{
	const struct thread_cpu *then =
		last->n_threads ? bsearch(now, last->thread, last->n_threads, sizeof(*now),
					  by_thread)
				: NULL;
	struct thread_cpu gone = *now;

	if (then && then->ran_ns <= now->ran_ns && then->waited_ns <= now->waited_ns) {
		gone.ran_ns -= then->ran_ns;
		gone.waited_ns -= then->waited_ns;
	}
	return gone;
}

static void sum_up(struct process_cpu *p, const struct cpu_book *book, size_t first,
		   const struct cpu_book *last)
{
	const struct process_cpu *then = cpu_book_find(last, p->pid);
	struct thread_cpu busiest = {};

	if (!then)
		return;
	for (size_t i = first; i < book->n_threads; i++) {
		struct thread_cpu one = since(&book->thread[i], last);

		if (busy_ns(&one) > busy_ns(&busiest))
			busiest = one;
	}
	p->asked_before = true;
	p->ran_ns = busiest.ran_ns;
	p->waited_ns = busiest.waited_ns;
	if (p->throttled_ns > then->throttled_ns) /* on every CPU of the group */
		p->quota_ns = MIN(p->throttled_ns - then->throttled_ns, p->waited_ns);
}

static void ask_process(struct cpu_book *book, const struct cpu_book *last, pid_t pid)
{
	struct thread_walk a = { .book = book, .pid = pid };
	struct process_cpu *p = &book->process[book->n_processes];
	size_t first = book->n_threads;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if (!proc_numbers(path, ask_thread, &a) || a.n > THREADS_MOST) {
		book->n_threads = first;
		return;
	}
	qsort(book->thread + first, book->n_threads - first, sizeof(*book->thread), by_thread);
	*p = (struct process_cpu){ .pid = pid,
				   .stopped = is_stopped(pid),
				   .throttled_ns = cpu_quota_kept_off(pid) };
	sum_up(p, book, first, last);
	book->n_processes++;
}

void cpu_book_make(struct cpu_book *book, const struct cpu_book *last, const pid_t *pids, size_t n)
{
	*book = (struct cpu_book){ .process = array_new(n, 1, sizeof(*book->process)) };
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
