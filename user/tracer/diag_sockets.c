// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/diag_sockets.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "host/sock_diag.h"
#include "tracer/inet_end.h"
#include "tracer/internal.h"

static void set_addr(struct trace_addr *to, const uint32_t ip[4], uint16_t port)
{
	memcpy(to->ip, ip, sizeof(to->ip));
	to->port = ntohs(port);
}

static void note_own(struct diag_socket *x, const struct nlmsghdr *n, const struct inet_diag_msg *m)
{
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	struct trace_endpoint *ep = x->ep;

	if (ep->proto == TRACE_TCP && ep->local.port != ntohs(m->id.idiag_sport)) {
		x->inode = 0; /* MPTCP */
		return;
	}
	ep->proto = TRACE_TCP;
	ep->family = m->idiag_family;
	set_addr(&ep->local, m->id.idiag_src, m->id.idiag_sport);
	set_addr(&ep->remote, m->id.idiag_dst, m->id.idiag_dport);
	x->is_connected = true;
	x->is_full = sock_diag_is_full(rtnl_attr(m + 1, len, INET_DIAG_SKMEMINFO));
}

static bool is_at(const struct trace_endpoint *ep, const struct trace_addr *at, uint8_t family,
		  const uint32_t *ip, uint16_t port)
{
	struct inet_end a = inet_end(ep->family, at->ip, at->port),
			b = inet_end(family, ip, ntohs(port));

	return !inet_end_compare(&a, &b);
}

static bool is_other_end(const struct inet_diag_msg *m, const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP &&
	       is_at(ep, &ep->remote, m->idiag_family, m->id.idiag_src, m->id.idiag_sport) &&
	       is_at(ep, &ep->local, m->idiag_family, m->id.idiag_dst, m->id.idiag_dport);
}

#define ESTABLISHED 1 /* TCP_ESTABLISHED: Unix sockets have it, too */
#define CLOSE_WAIT  8 /* TCP_CLOSE_WAIT: a FIN came, which counts as a byte */

static void note_tcp(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct diag_sockets *all = ctx;

	for (size_t i = 0; i < all->n; i++) {
		struct diag_socket *x = &all->v[i];

		if (m->idiag_inode && m->idiag_inode == x->inode) {
			note_own(x, n, m);
		} else if (is_other_end(m, x->ep)) {
			x->is_local = true;
			x->unread = m->idiag_rqueue;
			x->unread -= x->unread && m->idiag_state == CLOSE_WAIT;
		}
	}
}

/* all but those that wait for their end, or listen */
#define CONNECTIONS (1u << 1 | 1u << 4 | 1u << 5 | 1u << 8)

void diag_find_tcp(struct diag_sockets *all)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (int i = 0; i < 2; i++) {
		struct inet_diag_req_v2 ask = { .sdiag_family = families[i],
						.sdiag_protocol = IPPROTO_TCP,
						.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
						.idiag_states = CONNECTIONS };
		struct rtnl_req r;

		rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
		sock_diag_dump(&r, note_tcp, all);
	}
}

/* so full that poll() would not call it writable */
static bool is_full(const struct rtattr *mem)
{
	const uint32_t *v = mem ? RTA_DATA(mem) : NULL;

	return mem && RTA_PAYLOAD(mem) > SK_MEMINFO_SNDBUF * sizeof(*v) &&
	       4ull * v[SK_MEMINFO_WMEM_ALLOC] > v[SK_MEMINFO_SNDBUF];
}

static void note_unix(const struct nlmsghdr *n, void *ctx)
{
	const struct unix_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	bool named = rtnl_attr(m + 1, len, UNIX_DIAG_NAME);
	const struct rtattr *peer = rtnl_attr(m + 1, len, UNIX_DIAG_PEER),
			    *lens = rtnl_attr(m + 1, len, UNIX_DIAG_RQLEN);
	const struct unix_diag_rqlen *q = lens ? RTA_DATA(lens) : NULL;
	struct diag_sockets *all = ctx;

	for (size_t i = 0; i < all->n; i++) {
		struct diag_socket *x = &all->v[i];

		if (x->inode && m->udiag_ino == x->inode) {
			x->is_unix = true;
			x->named = named;
			x->peer = peer ? *(const uint32_t *)RTA_DATA(peer) : 0;
			x->is_connected = m->udiag_state == ESTABLISHED; /* or not accepted yet */
			x->unread = q && x->is_connected && m->udiag_type != SOCK_DGRAM
					    ? q->udiag_wqueue
					    : 0;
			x->is_full = is_full(rtnl_attr(m + 1, len, UNIX_DIAG_MEMINFO));
		}
		x->peer_named |= named && x->peer && m->udiag_ino == x->peer;
	}
}

void diag_find_unix(struct diag_sockets *all)
{
	struct unix_diag_req ask = { .sdiag_family = AF_UNIX,
				     .udiag_states = ~0u,
				     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER |
						   UDIAG_SHOW_RQLEN | UDIAG_SHOW_MEMINFO };
	struct rtnl_req r;

	rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
	sock_diag_dump(&r, note_unix, all);
}

/* The name of a listener is that of what accept() returns, too; the ends of a socket pair have
 * none, and tell nothing of who asks. */
bool diag_has_asked(const struct diag_socket *x, const struct tcp_turns *t)
{
	const struct tcp_turn *turn = tcp_turns_find(t, x->inode);

	return x->is_unix ? !x->named : turn && tcp_turns_asks(t, turn);
}

bool diag_awaits_answer(const struct diag_socket *x, const struct tcp_turns *t)
{
	const struct tcp_turn *turn = tcp_turns_find(t, x->inode);

	return diag_has_asked(x, t) && (x->is_unix || (turn && tcp_turn_is_answered(turn)));
}

bool diag_answers(const struct diag_socket *x, pid_t pid)
{
	const struct trace_making *m = &x->ep->making;

	if (!m->other_pid || m->other_shared || m->other_pid == pid)
		return false;
	return !x->is_unix || x->peer_named || m->other_unaccepted ||
	       proc_began(m->other_pid) > proc_began(pid);
}
