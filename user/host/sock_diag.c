// SPDX-License-Identifier: GPL-2.0-only
#include "host/sock_diag.h"

#include <fcntl.h>
#include <linux/sock_diag.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define OWN_NETNS "/proc/thread-self/ns/net"

/* a descriptor of the namespace to which requests go; -1: the program's own */
static _Thread_local int netns = -1;

static uint64_t inode_of(int fd)
{
	struct stat st;

	return (fd < 0 ? stat(OWN_NETNS, &st) : fstat(fd, &st)) ? 0 : (uint64_t)st.st_ino;
}

int sock_diag_enter(pid_t pid)
{
	int before = netns, there = open(proc_path(pid, "ns/net").text, O_RDONLY | O_CLOEXEC);

	if (there >= 0 && inode_of(there) == inode_of(-1)) { /* entering it needs a privilege */
		close(there);
		there = -1;
	}
	netns = there;
	return before;
}

void sock_diag_leave(int before)
{
	if (netns >= 0)
		close(netns);
	netns = before;
}

uint64_t sock_diag_netns(void)
{
	return inode_of(netns);
}

static int open_here(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

/* A socket stays in the namespace in which it was made; the thread comes back. */
static int open_there(void)
{
	int own = open(OWN_NETNS, O_RDONLY | O_CLOEXEC), fd = -1;

	if (own >= 0 && !setns(netns, CLONE_NEWNET)) {
		fd = open_here();
		if (setns(own, CLONE_NEWNET))
			abort(); /* all else would be done in a foreign namespace */
	}
	if (own >= 0)
		close(own);
	return fd;
}

static int open_socket(void)
{
	return netns < 0 ? open_here() : open_there();
}

static void request(struct rtnl_req *r, rtnl_fn fn, void *arg,
		    int (*ask)(int, struct rtnl_req *, rtnl_fn, void *))
{
	int fd = open_socket();

	if (fd < 0)
		return;
	ask(fd, r, fn, arg);
	close(fd);
}

void sock_diag_dump(struct rtnl_req *r, rtnl_fn fn, void *arg)
{
	request(r, fn, arg, rtnl_dump);
}

void sock_diag_get(struct rtnl_req *r, rtnl_fn fn, void *arg)
{
	request(r, fn, arg, rtnl_get);
}

bool sock_diag_is_full(const struct rtattr *mem)
{
	const uint32_t *v = mem ? RTA_DATA(mem) : NULL;

	return mem && RTA_PAYLOAD(mem) > SK_MEMINFO_WMEM_QUEUED * sizeof(*v) &&
	       3ull * v[SK_MEMINFO_WMEM_QUEUED] > 2ull * v[SK_MEMINFO_SNDBUF];
}
