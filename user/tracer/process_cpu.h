/* SPDX-License-Identifier: GPL-2.0-only */
/* How long processes ran on a CPU, waited for one or were stopped, from one time to the next at
 * which they were asked. Of several threads the one that was busiest. */
#ifndef IPCSTALL_TRACER_PROCESS_CPU_H
#define IPCSTALL_TRACER_PROCESS_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_cpu {
	pid_t pid;
	bool asked_before; /* else the times are 0 */
	bool stopped;	   /* now */
	uint64_t ran_ns, waited_ns;
	uint64_t quota_ns; /* of waited_ns: its cgroup had used up its quota */
	uint64_t throttled_ns; /* in all of that cgroup's life */
};

struct thread_cpu {
	pid_t pid, tid;
	uint64_t ran_ns, waited_ns; /* in all of its life */
};

struct cpu_book {
	struct process_cpu *process; /* by pid */
	struct thread_cpu *thread;   /* by pid, tid */
	size_t n_processes, n_threads, room;
};

/* `pids`, each once and in order; `last` is what the call before made, or empty */
void cpu_book_make(struct cpu_book *book, const struct cpu_book *last, const pid_t *pids, size_t n);
/* NULL: it was not asked, or is gone */
const struct process_cpu *cpu_book_find(const struct cpu_book *book, pid_t pid);
void cpu_book_free(struct cpu_book *book);

#endif
