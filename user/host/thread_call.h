/* SPDX-License-Identifier: GPL-2.0-only */
/* The system call that a thread is in, as /proc/PID/task/TID/syscall tells it. */
#ifndef IPCSTALL_HOST_THREAD_CALL_H
#define IPCSTALL_HOST_THREAD_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_call {
	long nr; /* -1: it sleeps in none */
	uint64_t args[5];
};

/* "7 0x7ffd8c3e5a60 0x1 0x0 ..." or "-1 ..."; false: "running" */
bool thread_call_parse(const char *line, struct thread_call *c);
enum thread_state { THREAD_GONE, THREAD_RUNS, THREAD_IN_CALL };
/* THREAD_GONE: or it cannot be asked */
enum thread_state thread_call_read(pid_t pid, pid_t tid, struct thread_call *c);
/* Does it sleep in this function of the kernel, or in `other`, which may be null? */
bool thread_sleeps_in(pid_t pid, pid_t tid, const char *one, const char *other);
/* poll() or ppoll() */
bool thread_call_is_poll(const struct thread_call *c);
/* poll() or select() of no descriptor: a timer */
bool thread_call_polls_nothing(const struct thread_call *c);
/* ... and of no end either, as pause() */
bool thread_call_sleeps_for_ever(const struct thread_call *c);
/* futex() that waits with a timeout */
bool thread_call_is_timed_futex(const struct thread_call *c);
/* select() or pselect() */
bool thread_call_is_select(const struct thread_call *c);
/* epoll_wait() and the like: args[0] is the epoll descriptor */
bool thread_call_is_epoll(const struct thread_call *c);
/* The descriptors that it polls or selects to read, which stand in that thread's memory. */
#define THREAD_POLLS_UNKNOWN SIZE_MAX /* more than `max`, or they cannot be read */
size_t thread_call_polled(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max);

/* The path that it opens, or of the Unix socket that it connects to; false: it does neither, or
 * that cannot be read. */
bool thread_call_path(pid_t tid, const struct thread_call *c, char *path, size_t len);
/* connect() */
bool thread_call_connects(const struct thread_call *c);

#endif
