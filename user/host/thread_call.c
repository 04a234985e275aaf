// SPDX-License-Identifier: GPL-2.0-only
#include "host/thread_call.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

bool thread_call_parse(const char *line, struct thread_call *c)
{
	*c = (struct thread_call){ 0 };
	return sscanf(line, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &c->nr,
		      &c->args[0], &c->args[1], &c->args[2], &c->args[3], &c->args[4]) >= 1;
}

enum thread_state thread_call_read(pid_t pid, pid_t tid, struct thread_call *c)
{
	char line[200];

	if (!text_first_line(proc_path(pid, "task/%d/syscall", (int)tid).text, line, sizeof(line)))
		return THREAD_GONE;
	return thread_call_parse(line, c) ? THREAD_IN_CALL : THREAD_RUNS;
}

bool thread_sleeps_in(pid_t pid, pid_t tid, const char *one, const char *other)
{
	char line[64];

	return text_first_line(proc_path(pid, "task/%d/wchan", (int)tid).text, line,
			       sizeof(line)) &&
	       (!strcmp(line, one) || (other && !strcmp(line, other)));
}

enum waits_by { NO_POLLING, BY_POLL, BY_SELECT, BY_EPOLL };

/* newer architectures have those alone that take a signal mask */
static enum waits_by waits_by(long nr)
{
	switch (nr) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll: return BY_POLL;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6: return BY_SELECT;
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
	case SYS_epoll_pwait: return BY_EPOLL;
	default: return NO_POLLING;
	}
}

bool thread_call_is_poll(const struct thread_call *c)
{
	return waits_by(c->nr) == BY_POLL;
}

bool thread_call_is_select(const struct thread_call *c)
{
	return waits_by(c->nr) == BY_SELECT;
}

bool thread_call_is_epoll(const struct thread_call *c)
{
	return waits_by(c->nr) == BY_EPOLL;
}

bool thread_call_polls_nothing(const struct thread_call *c)
{
	return (thread_call_is_poll(c) && !c->args[1]) || (thread_call_is_select(c) && !c->args[0]);
}

bool thread_call_is_timed_futex(const struct thread_call *c)
{
	int op = (int)c->args[1] & FUTEX_CMD_MASK;

	return c->nr == SYS_futex && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && c->args[3];
}

bool thread_call_sleeps_for_ever(const struct thread_call *c)
{
	bool poll = c->nr != SYS_ppoll && thread_call_is_poll(c); /* milliseconds, not a pointer */

	if (!thread_call_polls_nothing(c))
		return false;
	return poll ? (int)c->args[2] < 0 : thread_call_is_poll(c) ? !c->args[2] : !c->args[4];
}

static bool read_there(pid_t tid, uint64_t from, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)from, size };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

enum { POLLED_LOOKED_AT = 1024 };

static size_t in_poll(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max)
{
	struct pollfd v[POLLED_LOOKED_AT];
	uint64_t n = c->args[1];
	size_t found = 0;

	if (n > POLLED_LOOKED_AT || (n && !read_there(tid, c->args[0], v, n * sizeof(*v))))
		return THREAD_POLLS_UNKNOWN;
	for (uint64_t i = 0; i < n; i++) {
		if (v[i].fd < 0 || !(v[i].events & (POLLIN | POLLRDNORM)))
			continue;
		if (found == max)
			return THREAD_POLLS_UNKNOWN;
		fds[found++] = (uint64_t)v[i].fd;
	}
	return found;
}

static size_t in_select(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max)
{
	uint64_t bits[FD_SETSIZE / 64], n = c->args[0];
	size_t found = 0;

	if (!n || !c->args[1])
		return 0;
	if (n > FD_SETSIZE || !read_there(tid, c->args[1], bits, (n + 63) / 64 * 8))
		return THREAD_POLLS_UNKNOWN;
	for (uint64_t fd = 0; fd < n; fd++) {
		if (!(bits[fd / 64] >> (fd & 63) & 1))
			continue;
		if (found == max)
			return THREAD_POLLS_UNKNOWN;
		fds[found++] = fd;
	}
	return found;
}

size_t thread_call_polled(pid_t tid, const struct thread_call *c, uint64_t *fds, size_t max)
{
	return thread_call_is_select(c) ? in_select(tid, c, fds, max) : in_poll(tid, c, fds, max);
}

bool thread_call_connects(const struct thread_call *c)
{
	return c->nr == SYS_connect;
}

/* up to the end of its page: what comes after need not be there */
static bool read_string(pid_t tid, uint64_t from, char *to, size_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), left = page - from % page;

	memset(to, 0, len);
	return from && read_there(tid, from, to, left < len - 1 ? left : len - 1) && *to;
}

static bool address_path(pid_t tid, const struct thread_call *c, char *path, size_t len)
{
	struct sockaddr_un a = {};
	size_t size = c->args[2] < sizeof(a) ? c->args[2] : sizeof(a) - 1;

	if (!read_there(tid, c->args[1], &a, size) || a.sun_family != AF_UNIX)
		return false;
	if (!a.sun_path[0]) /* abstract */
		a.sun_path[0] = '@';
	snprintf(path, len, "%s", a.sun_path);
	return true;
}

bool thread_call_path(pid_t tid, const struct thread_call *c, char *path, size_t len)
{
	*path = '\0';
#ifdef SYS_open
	if (c->nr == SYS_open)
		return read_string(tid, c->args[0], path, len);
#endif
	if (c->nr == SYS_openat)
		return read_string(tid, c->args[1], path, len);
	return thread_call_connects(c) && address_path(tid, c, path, len);
}
