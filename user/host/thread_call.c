// SPDX-License-Identifier: GPL-2.0-only
#include "host/thread_call.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>

bool thread_call_parse(const char *line, struct thread_call *c)
{
	*c = (struct thread_call){ 0 };
	return sscanf(line, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64, &c->nr, &c->args[0],
		      &c->args[1], &c->args[2]) >= 1;
}

bool thread_call_is_poll(const struct thread_call *c)
{
#ifdef SYS_poll /* newer architectures have ppoll() alone */
	if (c->nr == SYS_poll)
		return true;
#endif
	return c->nr == SYS_ppoll;
}

bool thread_call_is_select(const struct thread_call *c)
{
#ifdef SYS_select
	if (c->nr == SYS_select)
		return true;
#endif
	return c->nr == SYS_pselect6;
}

bool thread_call_is_epoll(const struct thread_call *c)
{
#ifdef SYS_epoll_wait
	if (c->nr == SYS_epoll_wait)
		return true;
#endif
#ifdef SYS_epoll_pwait2
	if (c->nr == SYS_epoll_pwait2)
		return true;
#endif
	return c->nr == SYS_epoll_pwait;
}

bool thread_call_polls_nothing(const struct thread_call *c)
{
	return (thread_call_is_poll(c) && !c->args[1]) || (thread_call_is_select(c) && !c->args[0]);
}

static bool read_there(pid_t tid, uint64_t from, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)from, size };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

enum { POLLED_LOOKED_AT = 64 };

static size_t in_poll(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max)
{
	struct pollfd v[POLLED_LOOKED_AT];
	uint64_t n = c->args[1];
	size_t found = 0;

	if (!n || n > POLLED_LOOKED_AT || !read_there(tid, c->args[0], v, n * sizeof(*v)))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		if (v[i].fd < 0 || !(v[i].events & (POLLIN | POLLRDNORM)))
			continue;
		if (found == max)
			return 0;
		fds[found++] = (uint64_t)v[i].fd;
	}
	return found;
}

static size_t in_select(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max)
{
	uint64_t bits[FD_SETSIZE / 64], n = c->args[0];
	size_t found = 0;

	if (!n || n > FD_SETSIZE || !c->args[1] ||
	    !read_there(tid, c->args[1], bits, (n + 63) / 64 * 8))
		return 0;
	for (uint64_t fd = 0; fd < n; fd++) {
		if (!(bits[fd / 64] >> (fd & 63) & 1))
			continue;
		if (found == max)
			return 0;
		fds[found++] = fd;
	}
	return found;
}

size_t thread_call_polled(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max)
{
	return thread_call_is_select(c) ? in_select(tid, c, fds, max) : in_poll(tid, c, fds, max);
}
