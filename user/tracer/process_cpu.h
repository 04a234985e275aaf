/* SPDX-License-Identifier: GPL-2.0-only */
/* How long processes ran on a CPU, waited for one or were stopped, from one reading of /proc to the
 * next. */
#ifndef IPCSTALL_TRACER_PROCESS_CPU_H
#define IPCSTALL_TRACER_PROCESS_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_cpu {
	pid_t pid;
	uint64_t born; /* in ticks: another process may have its pid by now */
	bool asked_before;
	bool stopped, was_stopped; /* now; at the reading before */
	size_t first_thread, n_threads; /* in the book */
	uint64_t throttled_ns, throttled_since_ns; /* in its cgroup's life; since that reading */
};

struct thread_cpu {
	pid_t pid, tid;
	uint64_t ran_ns, waited_ns, turns; /* on a CPU; for a CPU; how often it got one */
};

struct cpu_book {
	struct process_cpu *process; /* by pid */
	struct thread_cpu *thread;   /* by pid, tid */
	size_t n_processes, n_threads, room;
	uint64_t at_ns;
};

/* Reads the processes in `pids`, which are sorted and differ. `last`: the book of the reading
 * before, or empty. */
void cpu_book_make(struct cpu_book *book, const struct cpu_book *last, const pid_t *pids, size_t n);
/* NULL: the process was not read, or is gone */
const struct process_cpu *cpu_book_find(const struct cpu_book *book, pid_t pid);
/* What the thread did from `last` to `book`; tid 0: the busiest of the process's threads. False: it
 * is not known. */
bool cpu_book_thread(const struct cpu_book *book, const struct cpu_book *last, pid_t pid, pid_t tid,
		     struct thread_cpu *did);
void cpu_book_free(struct cpu_book *book);

#endif
