// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names the programs on this host at the other ends of connections, if those ends are no endpoints
 * of the session. sock_diag has the inode of such an end, or of the socket bound where a connection
 * or a datagram went. /proc has the process that holds it.
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "host/asleep.h"
#include "host/proc.h"
#include "host/sock_diag.h"
#include "host/thread_call.h"
#include "tracer/lone_ends.h"
#include "tracer/netns.h"
#include "tracer/other_netns.h"
#include "tracer/internal.h"

static bool is_unix(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_UNIX_STREAM || ep->proto == TRACE_UNIX_SEQPACKET ||
	       ep->proto == TRACE_UNIX_DGRAM; /* DGRAM: the end that it is connected to */
}

static bool has_lone_end(const struct trace_endpoint *ep)
{
	if (ep->peer >= 0)
		return false;
	if (is_unix(ep))
		return !ep->closed && ep->inode;
	return (ep->proto == TRACE_TCP || ep->proto == TRACE_UDP) && ep->local.port &&
	       ep->remote.port;
}

static void place_of(struct lone_end *e)
{
	const struct trace_endpoint *ep = e->ep;

	if (is_unix(ep)) {
		e->inode = ep->inode;
		return;
	}
	e->there = inet_end(ep->family, ep->remote.ip, ep->remote.port);
	e->here = inet_end(ep->family, ep->local.ip, ep->local.port);
}

/* Those in that network namespace. named: also those whose other end has a name already */
static void list(struct trace_snapshot *s, bool named, const struct netns_list *l, size_t netns,
		 struct lone_ends *all)
{
	for (size_t i = 0; i < s->n; i++) {
		struct trace_endpoint *ep = &s->ep[i];

		if (!has_lone_end(ep) || (ep->making.other_pid && !named) ||
		    !netns_is_of(l, netns, ep))
			continue;
		all->v[all->n] = (struct lone_end){ .ep = ep, .netns = l->v[netns].inode };
		place_of(&all->v[all->n++]);
	}
}

ORDER_BY(by_other, struct lone_end, other)

/* Until a listener accepts a client's connection, the listener is the client's other end. */
static void note_pending(struct lone_ends *all, const struct unix_diag_msg *m, int len)
{
	const struct rtattr *clients = rtnl_attr(m + 1, len, UNIX_DIAG_ICONS);
	size_t n = clients ? RTA_PAYLOAD(clients) / sizeof(uint32_t) : 0;

	for (size_t i = 0; i < n; i++) {
		struct lone_end *end = lone_ends_find(
			all,
			&(struct lone_end){ .inode = ((const uint32_t *)RTA_DATA(clients))[i] },
			m->udiag_ino);

		if (end)
			end->pending = true;
	}
}

static void note_unix(const struct nlmsghdr *n, void *ctx)
{
	const struct unix_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	const struct rtattr *other = rtnl_attr(m + 1, len, UNIX_DIAG_PEER);

	if (other)
		lone_ends_find(ctx, &(struct lone_end){ .inode = m->udiag_ino },
			       *(const uint32_t *)RTA_DATA(other));
	note_pending(ctx, m, len);
}

/* Decided without the routes: the destination is loopback, or the sender's own address. */
static bool stays_here(const struct lone_end *e)
{
	return inet_end_is_loopback(&e->there) ||
	       !memcmp(e->there.ip, e->here.ip, sizeof(e->there.ip));
}

static enum reached reaches(const struct lone_end *e, const struct inet_end *bound)
{
	static const uint8_t any[16];

	if (e->there.port != bound->port || !stays_here(e))
		return NOT_REACHED;
	if (!memcmp(e->there.ip, bound->ip, sizeof(any)))
		return BOUND_THERE;
	if (inet_end_is_mapped(bound))
		return inet_end_is_mapped(&e->there) && !memcmp(bound->ip + 12, any, 4)
			       ? BOUND_TO_ANY_4
			       : NOT_REACHED;
	return memcmp(bound->ip, any, sizeof(any)) ? NOT_REACHED : BOUND_TO_ANY;
}

static bool queued(const struct lone_end *e, const struct inet_diag_msg *m)
{
	return e->pending && m->idiag_rqueue;
}

/* For datagrams, and for connections whose other end is gone. */
static void note_bound(struct lone_ends *all, enum trace_proto proto, const struct inet_diag_msg *m)
{
	struct inet_end bound = inet_end(m->idiag_family, m->id.idiag_src,
					 ntohs(m->id.idiag_sport));

	for (size_t i = 0; i < all->n; i++) {
		struct lone_end *e = &all->v[i];
		enum reached by = e->ep->proto == proto ? reaches(e, &bound) : NOT_REACHED;

		if (by == NOT_REACHED || by < e->by || (by == e->by && e->queued && !queued(e, m)))
			continue;
		/* Of several (SO_REUSEPORT) the kernel chooses one, and nobody knows which, unless
		 * one alone has connections in its queue. */
		if (by > e->by || e->queued != queued(e, m) || e->other == m->idiag_inode)
			e->other = m->idiag_inode;
		else
			e->other = 0;
		e->by = by;
		e->queued = queued(e, m);
	}
}

static void note_listening(const struct nlmsghdr *n, void *ctx)
{
	note_bound(ctx, TRACE_TCP, NLMSG_DATA(n));
}

/* A connected UDP socket gets datagrams of its peer alone. */
static void note_udp(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);

	if (m->id.idiag_dport)
		lone_ends_note_connected(ctx, m);
	else
		note_bound(ctx, TRACE_UDP, m);
}

static void dump(const void *ask, size_t len, rtnl_fn fn, struct lone_ends *all)
{
	struct rtnl_req r;

	rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, ask, len);
	sock_diag_dump(&r, fn, all);
}

#define LISTENS (1u << 10) /* TCP_LISTEN */
#define MEMORY	(1 << (INET_DIAG_SKMEMINFO - 1))

static void dump_inet(uint8_t protocol, uint32_t states, uint8_t ext, rtnl_fn fn,
		      struct lone_ends *all)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (int i = 0; i < 2; i++)
		dump(&(struct inet_diag_req_v2){ .sdiag_family = families[i],
						 .sdiag_protocol = protocol,
						 .idiag_ext = ext,
						 .idiag_states = states },
		     sizeof(struct inet_diag_req_v2), fn, all);
}

static void ask_kernel(struct lone_ends *all)
{
	if (all->v[all->n - 1].inode)
		dump(&(struct unix_diag_req){ .sdiag_family = AF_UNIX,
					      .udiag_states = ~0u,
					      .udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_ICONS },
		     sizeof(struct unix_diag_req), note_unix, all);
	if (all->v[0].inode) /* all are Unix sockets */
		return;
	dump_inet(IPPROTO_TCP, ~LISTENS, MEMORY, lone_ends_note_tcp, all);
	dump_inet(IPPROTO_TCP, LISTENS, 0, note_listening, all);
	dump_inet(IPPROTO_UDP, ~0u, 0, note_udp, all);
}

#define POLLED_MOST 64

struct receiver {
	pid_t pid;
	long fd;
	size_t polls_most; /* descriptors: a thread that polls more does not count */
	bool found;
};

static bool is_polled(pid_t tid, const struct thread_call *call, const struct receiver *r)
{
	uint64_t polled[POLLED_MOST];
	size_t n = thread_call_polled(tid, call, polled, r->polls_most);

	for (size_t i = 0; n != THREAD_POLLS_UNKNOWN && i < n; i++)
		if ((long)polled[i] == r->fd)
			return true;
	return false;
}

/* "tfd: 5 events: 19 ..." */
static bool is_registered(const struct thread_call *call, const struct receiver *r)
{
	long fd;

	for_each_line (l, proc_path(r->pid, "fdinfo/%ld", (long)call->args[0]).text)
		if (sscanf(l.text, "tfd: %ld", &fd) == 1 && fd == r->fd)
			return true;
	return false;
}

static void ask_thread(void *ctx, int dir, long tid)
{
	struct receiver *r = ctx;
	struct thread_call call;

	(void)dir;
	if (r->found || thread_call_read(r->pid, (pid_t)tid, &call) != THREAD_IN_CALL)
		return;
	if (asleep_is_receive(call.nr))
		r->found = (long)call.args[0] == r->fd;
	else if (thread_call_is_epoll(&call))
		r->found = r->polls_most > 1 && is_registered(&call, r);
	else if (thread_call_is_poll(&call) || thread_call_is_select(&call))
		r->found = is_polled((pid_t)tid, &call, r);
}

static bool is_received_from(pid_t pid, long fd, size_t polls_most)
{
	struct receiver r = { .pid = pid, .fd = fd, .polls_most = polls_most };

	proc_numbers(proc_path(pid, "task").text, ask_thread, &r);
	return r.found;
}

/* Asking helps only where nothing passed, of Unix sockets at a server's end: otherwise that end
 * itself tells enough. Each question reads all threads of a process, so their number is limited. */
#define ASKED_MOST 64

static bool is_worth_asking(const struct trace_endpoint *ep)
{
	bool unix_server = (ep->proto == TRACE_UNIX_STREAM || ep->proto == TRACE_UNIX_SEQPACKET) &&
			   ep->making.accepted;

	return (unix_server || ep->proto == TRACE_TCP) && ep->joined_late && !ep->rx_calls.bytes &&
	       !ep->tx_calls.bytes && ep->rx.resolution[RX_IDLE] != TRACE_BY_SAMPLES;
}

static struct lone_end *first_with_other(const struct lone_ends *all, uint64_t other)
{
	struct lone_end want = { .other = other }, *e;

	e = other ? bsearch(&want, all->v, all->n, sizeof(want), by_other) : NULL;
	while (e && e > all->v && e[-1].other == other)
		e--;
	return e;
}

static bool is_listener(const struct lone_end *e)
{
	return e->pending || (e->ep->proto == TRACE_TCP && e->by != CONNECTED);
}

static bool receives(struct lone_ends *all, pid_t pid, long fd)
{
	return all->asked++ < ASKED_MOST && is_received_from(pid, fd, POLLED_MOST);
}

#define GENERATIONS 4

static bool descends_from(pid_t pid, pid_t ancestor)
{
	for (int i = 0; i < GENERATIONS && pid > 1; i++) {
		pid = process_parent(pid);
		if (pid == ancestor)
			return true;
	}
	return false;
}

/* It waits for the next connection, or until a child ends; or it sleeps while that child runs, as
 * the monitor of sshd. */
static bool has_left_it_to(pid_t child, pid_t pid)
{
	struct thread_call call, ignored;

	if (thread_call_read(pid, pid, &call) != THREAD_IN_CALL)
		return false;
	return call.nr == SYS_accept || call.nr == SYS_accept4 || call.nr == SYS_wait4 ||
	       call.nr == SYS_waitid || thread_call_read(child, child, &ignored) == THREAD_RUNS;
}

/* Two processes hold the connection, like the two of sshd, or a child that inherited it. The
 * second is named if it waits for data there and the first does not. If neither does, the elder
 * is: a CGI program, for example, answers the server that started it. */
static bool is_second_named(struct lone_ends *all, struct lone_end *e, pid_t pid, long fd)
{
	struct trace_making *m = &e->ep->making;
	pid_t first = m->other_pid;
	bool second;

	if (!e->several)
		e->receives = receives(all, first, e->fd);
	e->several = true;
	second = !e->receives && receives(all, pid, fd);
	e->receives |= second;
	if (!e->receives && descends_from(pid, first))
		second = has_left_it_to(pid, first);
	else if (!e->receives && descends_from(first, pid))
		second = !has_left_it_to(first, pid);
	else
		e->unrelated |= !e->receives;
	m->other_shared = e->unrelated && !e->receives;
	return second;
}

/* Workers may all inherit the listeners of all, of which each waits at its own alone. */
static bool is_only_acceptor(struct lone_ends *all, struct lone_end *e, pid_t pid, long fd)
{
	struct trace_making *m = &e->ep->making;
	bool waits;

	if (!e->several)
		e->acceptors = e->pending && receives(all, m->other_pid, e->fd);
	e->several = true;
	waits = e->pending && receives(all, pid, fd);
	e->acceptors += waits;
	m->other_shared = e->acceptors != 1;
	return waits && e->acceptors == 1;
}

/* Any holder of a listener may accept the connection, except the process that started the others
 * (prefork). Init only keeps listeners that it made for others. */
static bool is_to_be_named(struct lone_ends *all, struct lone_end *e, pid_t pid, long fd)
{
	struct trace_making *m = &e->ep->making;

	if (m->other_pid <= 1)
		return true;
	if (pid == m->other_pid || pid == e->master)
		return false;
	if (!is_listener(e))
		return is_second_named(all, e, pid, fd);
	if (!e->master && process_parent(pid) == m->other_pid) {
		e->master = m->other_pid;
		return true;
	}
	if (!e->master && process_parent(m->other_pid) == pid) {
		e->master = pid;
		return false;
	}
	return is_only_acceptor(all, e, pid, fd);
}

static void name_holder(void *ctx, pid_t pid, int dir, long fd)
{
	struct lone_ends *all = ctx;
	uint64_t other = proc_inode(dir, fd);
	struct lone_end *e = first_with_other(all, other), *last = all->v + all->n;

	for (; e && e < last && e->other == other; e++) {
		if (!is_to_be_named(all, e, pid, fd))
			continue;
		e->ep->making.other_pid = pid;
		e->fd = fd;
		process_comm(pid, e->ep->making.other_comm);
		if (is_worth_asking(e->ep) && all->asked++ < ASKED_MOST)
			e->ep->making.other_receives |= is_received_from(pid, fd, 1);
	}
}

static void find_in_netns(struct trace_snapshot *s, bool named, const struct netns_list *l,
			  size_t netns, struct lone_ends *all)
{
	struct lone_ends here = { .v = all->v + all->n };
	int before;

	list(s, named, l, netns, &here);
	all->n += here.n;
	if (!here.n)
		return;
	lone_ends_sort(&here);
	if (!netns) {
		ask_kernel(&here);
		return;
	}
	before = sock_diag_enter(l->v[netns].pid);
	ask_kernel(&here);
	sock_diag_leave(before);
}

static struct lone_ends find_others(struct trace_snapshot *s, bool named)
{
	struct lone_ends all = { .v = array_new(s->n, 1, sizeof(*all.v)) };
	struct netns_list l = {};

	if (all.v)
		netns_of_endpoints(s, &l);
	for (size_t i = 0; i < l.n; i++)
		find_in_netns(s, named, &l, i, &all);
	lone_ends_find_in_other_netns(&all);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_other);
	for (size_t i = 0; i < all.n; i++) {
		all.v[i].ep->making.other_unaccepted = all.v[i].pending;
		all.v[i].ep->making.other_full = all.v[i].sends_full;
	}
	return all;
}

void trace_name_other_ends(struct trace_snapshot *s)
{
	struct lone_ends all = find_others(s, false);

	if (all.n)
		proc_descriptors(name_holder, &all);
	free(all.v);
}

void other_ends_inodes(struct trace_snapshot *s, uint64_t *inodes)
{
	struct lone_ends all = find_others(s, true);

	for (size_t i = 0; i < all.n; i++)
		inodes[all.v[i].ep - s->ep] = all.v[i].other;
	free(all.v);
}

/* ---- datagrams for which the other end has no room ---- */

#define COUNTED_NS 200000000

static void note_drops(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	const struct rtattr *a = rtnl_attr(m + 1, len, INET_DIAG_SKMEMINFO);
	struct lone_ends *all = ctx;
	struct lone_end *e = first_with_other(all, m->idiag_inode);

	if (!a || RTA_PAYLOAD(a) <= SK_MEMINFO_DROPS * sizeof(uint32_t))
		return;
	for (; e && e < all->v + all->n && e->other == m->idiag_inode; e++) {
		const uint32_t *mem = RTA_DATA(a);

		e->drops = mem[SK_MEMINFO_DROPS];
		e->receives_full |= 2ull * mem[SK_MEMINFO_RMEM_ALLOC] >= mem[SK_MEMINFO_RCVBUF];
	}
}

static uint64_t read_drops(struct lone_ends *all)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	uint64_t sum = 0;

	for (int i = 0; i < 2; i++)
		dump(&(struct inet_diag_req_v2){ .sdiag_family = families[i],
						 .sdiag_protocol = IPPROTO_UDP,
						 .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
						 .idiag_states = ~0u },
		     sizeof(struct inet_diag_req_v2), note_drops, all);
	for (size_t i = 0; i < all->n; i++)
		sum += all->v[i].drops;
	return sum;
}

static bool sends_datagrams(const struct trace_snapshot *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ep[i].proto == TRACE_UDP && has_lone_end(&s->ep[i]) && !s->ep[i].closed)
			return true;
	return false;
}

void trace_count_other_drops(struct trace_snapshot *s)
{
	struct lone_ends all = {};

	if (sends_datagrams(s))
		all = find_others(s, true);
	if (all.n && read_drops(&all)) {
		for (size_t i = 0; i < all.n; i++)
			all.v[i].ep->making.other_drops = all.v[i].drops;
		nanosleep(&(struct timespec){ .tv_nsec = COUNTED_NS }, NULL);
		read_drops(&all);
		for (size_t i = 0; i < all.n; i++) {
			struct trace_making *m = &all.v[i].ep->making;

			m->other_drops = all.v[i].drops - (uint32_t)m->other_drops;
			m->other_drops *=
				all.v[i].receives_full; /* else its socket filter may drop them */
			m->other_drops_ns = COUNTED_NS;
		}
	}
	free(all.v);
}
