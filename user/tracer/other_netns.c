// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the other ends of TCP connections in other network namespaces of this host, as those of
 * containers. If the destination was translated on the way, as that of a published port, of a
 * service of Kubernetes or by a sidecar proxy's REDIRECT, the other end has this end's address as
 * its peer, and another one itself; it may be in the same namespace.
 */
#include "tracer/other_netns.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <string.h>

#include "host/sock_diag.h"
#include "tracer/netns.h"

#define ENDS_MOST 64
#define STATE(s)  (1u << (s))

enum { ESTABLISHED = 1, CLOSE_WAIT = 8, LISTEN = 10 }; /* TCP_ESTABLISHED, ... */

/* an end, and the socket whose peer it may be by a translated address */
struct translated {
	struct lone_end *end;
	uint64_t inode;
	struct inet_end at;
	bool several;
};

struct ends {
	struct translated v[ENDS_MOST];
	size_t n;
};

static bool is_missing(const struct lone_end *e)
{
	return e->ep->proto == TRACE_TCP && !e->inode && !e->other && !e->pending &&
	       !inet_end_is_loopback(&e->there);
}

/* `from` and `to` are addresses in one family, as the socket has them. */
static void get(int family, const struct trace_addr *from, uint16_t from_port,
		const struct trace_addr *to, uint16_t to_port, rtnl_fn fn, void *ctx)
{
	struct inet_diag_req_v2 ask = { .sdiag_family = (uint8_t)family,
					.sdiag_protocol = IPPROTO_TCP,
					.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
					.idiag_states = ~0u,
					.id = { .idiag_sport = htons(from_port),
						.idiag_dport = htons(to_port),
						.idiag_cookie = { ~0u, ~0u } } };
	struct rtnl_req r;

	memcpy(ask.id.idiag_src, from->ip, sizeof(ask.id.idiag_src));
	memcpy(ask.id.idiag_dst, to->ip, sizeof(ask.id.idiag_dst));
	rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, &ask, sizeof(ask));
	sock_diag_get(&r, fn, ctx);
}

static void note_listener(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct lone_end *e = ctx;

	if (STATE(m->idiag_state) & STATE(LISTEN)) {
		e->other = m->idiag_inode;
		e->by = BOUND_THERE;
	}
}

/* The socket that has both addresses, or what listens there if it was not accepted yet */
static void look_for(struct lone_end *e)
{
	const struct trace_endpoint *ep = e->ep;

	get(ep->family, &ep->remote, ep->remote.port, &ep->local, ep->local.port,
	    lone_ends_note_tcp, &(struct lone_ends){ .v = e, .n = 1 });
	if (e->pending)
		get(ep->family, &ep->remote, ep->remote.port, &ep->local, 0, note_listener, e);
}

static void note_translated(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct inet_end peer = inet_end(m->idiag_family, m->id.idiag_dst, ntohs(m->id.idiag_dport));
	struct ends *ends = ctx;

	for (size_t i = 0; m->idiag_inode && i < ends->n; i++) {
		struct translated *t = &ends->v[i];

		if (inet_end_compare(&peer, &t->end->here) != 0)
			continue;
		t->several |= t->inode != 0;
		t->inode = m->idiag_inode;
		t->at = inet_end(m->idiag_family, m->id.idiag_src, ntohs(m->id.idiag_sport));
	}
}

static void look_for_translated(struct ends *ends)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (int i = 0; i < 2; i++) {
		struct inet_diag_req_v2 ask = { .sdiag_family = families[i],
						.sdiag_protocol = IPPROTO_TCP,
						.idiag_states =
							STATE(ESTABLISHED) | STATE(CLOSE_WAIT) };
		struct rtnl_req r;

		rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
		sock_diag_dump(&r, note_translated, ends);
	}
}

static void in_each(const struct netns_list *l, struct ends *ends, bool translated)
{
	for (size_t k = 0; k < l->n; k++) {
		int before = sock_diag_enter(l->v[k].pid);

		for (size_t i = 0; !translated && i < ends->n; i++)
			if (is_missing(ends->v[i].end) && ends->v[i].end->netns != l->v[k].inode)
				look_for(ends->v[i].end);
		if (translated)
			look_for_translated(ends);
		sock_diag_leave(before);
	}
}

static void keep_missing(struct ends *ends)
{
	size_t n = 0;

	for (size_t i = 0; i < ends->n; i++)
		if (is_missing(ends->v[i].end))
			ends->v[n++] = ends->v[i];
	ends->n = n;
}

static void note_any(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);

	*(bool *)ctx |= STATE(m->idiag_state) != STATE(LISTEN);
}

/* A port may serve several connections to different servers: the socket found may be the other end
 * of another one. */
static bool is_of_another(const struct netns_list *l, const struct translated *t)
{
	const struct trace_endpoint *ep = t->end->ep;
	struct trace_addr to = {};
	bool any = false;

	memcpy(to.ip, t->at.ip + (ep->family == AF_INET6 ? 0 : 12),
	       ep->family == AF_INET6 ? 16 : 4);
	for (size_t k = 0; k < l->n; k++) {
		int before;

		if (l->v[k].inode != t->end->netns)
			continue;
		before = sock_diag_enter(l->v[k].pid);
		get(ep->family, &ep->local, ep->local.port, &to, t->at.port, note_any, &any);
		sock_diag_leave(before);
	}
	return any;
}

void lone_ends_find_in_other_netns(struct lone_ends *all)
{
	struct netns_list l;
	struct ends ends = {};

	for (size_t i = 0; i < all->n && ends.n < ENDS_MOST; i++)
		if (is_missing(&all->v[i]))
			ends.v[ends.n++].end = &all->v[i];
	if (!ends.n)
		return;
	netns_of_host(&l);
	in_each(&l, &ends, false);
	keep_missing(&ends);
	if (ends.n)
		in_each(&l, &ends, true);
	for (size_t i = 0; i < ends.n; i++) {
		struct translated *t = &ends.v[i];

		if (!t->inode || t->several || is_of_another(&l, t))
			continue;
		t->end->other = t->inode;
		t->end->by = CONNECTED;
	}
}
