/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_TESTS_UNIT_HOLDER_H
#define IPCSTALL_TESTS_UNIT_HOLDER_H

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A child process that has closed some descriptors, those that close_some(fd) closes, and keeps the
 * others until it is killed. -1: there is none. */
static inline pid_t fork_holder(void (*close_some)(int), int fd)
{
	atomic_bool *closed = mmap(NULL, sizeof(*closed), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (closed == MAP_FAILED)
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_some(fd);
		*closed = true;
		for (;;)
			pause();
	}
	while (pid > 0 && !*closed)
		sched_yield();
	munmap(closed, sizeof(*closed));
	return pid;
}

#endif
