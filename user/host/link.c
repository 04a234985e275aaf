// SPDX-License-Identifier: GPL-2.0-only
#include "host/link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/link_make.h"
#include "host/qdisc.h"
#include "host/rtnl.h"

/* --- up: the child's report, and the descriptors with it --- */

#define MAX_FDS (2 * LINK_MAX_NS + 1)

struct report {
	struct err e;
	bool has_v6;
};

union fd_room {
	struct cmsghdr align;
	char room[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static struct msghdr message_of(struct iovec *io, union fd_room *c)
{
	return (struct msghdr){ .msg_iov = io,
				.msg_iovlen = 1,
				.msg_control = c->room,
				.msg_controllen = sizeof(c->room) };
}

/* Namespaces, their netlink sockets, and last the user namespace if there is one. */
static int list_fds(const struct link *l, int *fds)
{
	int n = link_ns_count(&l->spec);

	memcpy(fds, l->ns_fd, (size_t)n * sizeof(int));
	memcpy(fds + n, l->nl_fd, (size_t)n * sizeof(int));
	fds[2 * n] = l->user_fd;
	return 2 * n + (l->user_fd >= 0);
}

static void take_fds(struct link *l, const int *fds, int count)
{
	int n = link_ns_count(&l->spec);

	memcpy(l->ns_fd, fds, (size_t)n * sizeof(int));
	memcpy(l->nl_fd, fds + n, (size_t)n * sizeof(int));
	l->user_fd = count > 2 * n ? fds[2 * n] : -1;
}

static void send_report(int sock, struct report *r, const struct link *l)
{
	struct iovec io = { .iov_base = r, .iov_len = sizeof(*r) };
	union fd_room c = { 0 };
	struct msghdr m = message_of(&io, &c);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int fds[MAX_FDS], n = err_is_set(&r->e) ? 0 : list_fds(l, fds);

	if (n) {
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
		memcpy(CMSG_DATA(h), fds, (size_t)n * sizeof(int));
		m.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
	} else {
		m.msg_control = NULL;
		m.msg_controllen = 0;
	}
	sendmsg(sock, &m, MSG_NOSIGNAL);
}

static int take_report(struct link *l, const struct report *r, struct msghdr *m, struct err *e)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);
	int fds[MAX_FDS], n;

	if (err_is_set(&r->e)) {
		if (!err_is_set(e))
			*e = r->e;
		return -1;
	}
	n = h ? (int)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
	if (n > 0 && n <= MAX_FDS)
		memcpy(fds, CMSG_DATA(h), (size_t)n * sizeof(int));
	if (n < 2 * link_ns_count(&l->spec) || m->msg_flags & MSG_CTRUNC) {
		for (int i = 0; i < n; i++)
			close(fds[i]);
		return err_resource(e, "--link: no room for the link's descriptors; raise the "
				       "limit of open files (ulimit -n)");
	}
	l->has_v6 = r->has_v6;
	take_fds(l, fds, n);
	return 0;
}

static int recv_report(int sock, struct link *l, struct err *e)
{
	struct report r;
	struct iovec io = { .iov_base = &r, .iov_len = sizeof(r) };
	union fd_room c;
	struct msghdr m = message_of(&io, &c);
	ssize_t n;

	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(r))
		return take_report(l, &r, &m, e);
	return err_resource(
		e,
		"--link: the process that makes the link was killed before it was done; try again");
}

static void make_and_report(int sock, struct link *l)
{
	struct report r = { 0 };

	link_make(l, &r.e);
	r.has_v6 = l->has_v6;
	send_report(sock, &r, l);
}

static void reap(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static int make_in_child(struct link *l, struct err *e)
{
	int pair[2], rc;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_sys(e, EXIT_NO_RESOURCE, "raise the limit of open files",
			       "--link: socketpair");
	child = fork();
	if (child == 0) {
		make_and_report(pair[1], l);
		_exit(0);
	}
	close(pair[1]);
	rc = child < 0 ? err_sys(e, EXIT_NO_RESOURCE, "try again", "--link: fork")
		       : recv_report(pair[0], l, e);
	close(pair[0]);
	if (child > 0)
		reap(child);
	return rc;
}

int link_up(const struct link_spec *spec, struct link *l, struct err *e)
{
	*l = (struct link)LINK_NONE;
	l->spec = *spec;
	if (link_is_plain(spec)) {
		l->has_v6 = access("/proc/sys/net/ipv6/conf/lo", F_OK) == 0;
		return 0;
	}
	return make_in_child(l, e);
}

/* --- in use --- */

/* A process within a user namespace cannot enter it again (userns_install(): EINVAL). */
static bool is_in_user_ns(int fd)
{
	struct stat ours, theirs;

	return stat("/proc/self/ns/user", &ours) == 0 && fstat(fd, &theirs) == 0 &&
	       ours.st_ino == theirs.st_ino;
}

int link_enter(const struct link *l, enum link_side side, struct err *e)
{
	int ns = l->ns_fd[link_ns_of(&l->spec, side)];

	if (link_is_plain(&l->spec))
		return 0;
	if (l->user_fd >= 0 && !is_in_user_ns(l->user_fd) && setns(l->user_fd, CLONE_NEWUSER))
		return err_sys(e, EXIT_BUG,
			       errno == EINVAL
				       ? "a thread was started before link_enter(); enter first"
				       : NULL,
			       "--link: enter the user namespace");
	if (setns(ns, CLONE_NEWNET))
		return err_sys(e, EXIT_BUG, "run the whole command as the same user",
			       "--link: enter the network namespace");
	return 0;
}

const char *link_addr(const struct link *l, enum link_side side, int family, struct err *e)
{
	bool lo = l->spec.kind == LINK_LO;

	if (family == AF_INET)
		return lo ? "127.0.0.1" : link_addr4[side];
	if (l->has_v6)
		return lo ? "::1" : link_addr6[side];
	if (l->spec.mtu && l->spec.mtu < 1280)
		err_usage(e, "--link: no IPv6 with mtu=%u: it needs 1280; raise mtu= or use IPv4",
			  (unsigned int)l->spec.mtu);
	else
		err_feature(
			e, "--link: no IPv6: this kernel was built or booted without it; use IPv4");
	return NULL;
}

/* --- counters --- */

struct device_reading {
	int index;
	struct rtnl_link_stats64 s;
};

static void read_device(const struct nlmsghdr *n, void *arg)
{
	const struct ifinfomsg *i = NLMSG_DATA(n);
	const struct rtattr *a =
		rtnl_attr(IFLA_RTA(i), (int)NLMSG_PAYLOAD(n, sizeof(*i)), IFLA_STATS64);
	struct device_reading *r = arg;

	/* The kernel's struct grows at its end: copy the part that both know. */
	if (n->nlmsg_type == RTM_NEWLINK && i->ifi_index == r->index && a)
		memcpy(&r->s, RTA_DATA(a),
		       RTA_PAYLOAD(a) < sizeof(r->s) ? RTA_PAYLOAD(a) : sizeof(r->s));
}

static int read_counters(int nl, int index, struct rtnl_link_stats64 *s, struct link_stats *queue)
{
	struct device_reading r = { .index = index };
	struct ifinfomsg i = { .ifi_index = index };
	struct rtnl_req req;

	rtnl_begin(&req, RTM_GETLINK, 0, &i, sizeof(i));
	if (rtnl_dump(nl, &req, read_device, &r))
		return -1;
	*s = r.s;
	return qdisc_read(nl, index, queue);
}

/* Add what the switch dropped on its way to the other host. */
static int add_switch_drops(const struct link *l, enum link_side side, struct link_stats *st)
{
	struct rtnl_link_stats64 dev;
	struct link_stats queue = { 0 };

	if (read_counters(l->nl_fd[LINK_SWITCH], LINK_PORT_INDEX + (LINK_SERVER - (int)side), &dev,
			  &queue))
		return -1;
	st->wire_drops += dev.tx_dropped + queue.drops;
	return 0;
}

int link_stats(const struct link *l, enum link_side side, struct link_stats *st, struct err *e)
{
	int nl = l->nl_fd[link_ns_of(&l->spec, side)];
	struct rtnl_link_stats64 dev;

	memset(st, 0, sizeof(*st));
	if (nl < 0)
		return err_feature(e, "--link: no counters on this machine's own loopback; use lo "
				      "with any key, veth or bridge");
	if (read_counters(nl, link_host_index(&l->spec, (int)side), &dev, st) ||
	    (l->spec.kind == LINK_BRIDGE && add_switch_drops(l, side, st)))
		return err_sys(e, EXIT_BUG, NULL, "--link: the link's counters");
	st->tx_bytes = dev.tx_bytes;
	st->tx_packets = dev.tx_packets;
	st->wire_drops += dev.tx_dropped;
	return 0;
}

/* --- down --- */

static void close_it(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void link_down(struct link *l)
{
	for (int i = 0; i < LINK_MAX_NS; i++) {
		close_it(&l->nl_fd[i]);
		close_it(&l->ns_fd[i]);
	}
	close_it(&l->user_fd);
}
