// SPDX-License-Identifier: GPL-2.0-only
#include "host/thread_call.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
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

static bool is_select(long nr)
{
#ifdef SYS_select
	if (nr == SYS_select)
		return true;
#endif
	return nr == SYS_pselect6;
}

bool thread_call_polls_nothing(const struct thread_call *c)
{
	return (thread_call_is_poll(c) && !c->args[1]) || (is_select(c->nr) && !c->args[0]);
}

enum { POLLED_LOOKED_AT = 64 };

size_t thread_call_polled(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max)
{
	struct pollfd v[POLLED_LOOKED_AT];
	uint64_t n = c->args[1];
	struct iovec here = { v, n * sizeof(*v) },
		     there = { (void *)(uintptr_t)c->args[0], here.iov_len };
	size_t found = 0;

	if (!n || n > POLLED_LOOKED_AT ||
	    process_vm_readv(tid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
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
