// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/by_address.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "verdict/times.h"

static const struct trace_addr any;

const struct trace_addr *where_bound(const struct trace_endpoint *ep)
{
	return &ep->local;
}

static int address_order(const struct at_address *a, const struct at_address *b)
{
	return COMPARE(a->family, b->family) ?: COMPARE(a->addr->port, b->addr->port) ?:
	       memcmp(a->addr->ip, b->addr->ip, sizeof(a->addr->ip));
}

/* Sorts by address, then by namespace, then in the order of the snapshot. */
static int full_order(const void *x, const void *y)
{
	const struct at_address *a = x, *b = y;

	return address_order(a, b) ?: COMPARE(a->netns, b->netns) ?: COMPARE(a->ep, b->ep);
}

struct by_address list_by_address(const struct trace_snapshot *s, endpoint_address *address)
{
	struct by_address list = { .v = array_new(s->n, 1, sizeof(*list.v)) };

	for (size_t i = 0; list.v && i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		const struct trace_addr *addr = ep->proto == TRACE_UDP ? address(ep) : NULL;

		if (addr && addr->port)
			list.v[list.n++] = (struct at_address){ ep->family, ep->netns, addr, ep };
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), full_order);
	return list;
}

static size_t place_of(const struct by_address *list, const struct at_address *want)
{
	return array_lower_bound(want, list->v, list->n, sizeof(*want), full_order);
}

struct by_address all_at(const struct by_address *list, const struct trace_endpoint *to)
{
	struct at_address want = { to->family, 0, &to->local, NULL };
	size_t first = place_of(list, &want), end;

	want.netns = UINT32_MAX;
	want.ep = (const void *)UINTPTR_MAX;
	end = place_of(list, &want);
	return (struct by_address){ list->v + first, end - first };
}

/* A program may have bound a port for a moment, only to find one that is free. */
static bool ended_before(const struct trace_endpoint *x, const struct trace_endpoint *ep)
{
	return x->closed && x->at_ns <= began(ep);
}

/* The first socket at that address other than `ep` itself. */
static const struct trace_endpoint *first_at(const struct by_address *bound,
					     const struct at_address *want,
					     const struct trace_endpoint *ep)
{
	for (size_t i = place_of(bound, want); i < bound->n; i++) {
		const struct at_address *x = &bound->v[i];

		if (address_order(x, want) || x->netns != want->netns)
			return NULL;
		if (x->ep != ep && !ended_before(x->ep, ep))
			return x->ep;
	}
	return NULL;
}

/* The first socket at the address that ep sends to, or at the wildcard address. An IPv6 socket may
 * receive what an IPv4 socket sends. */
static int first_there(const struct trace_snapshot *s, const struct by_address *bound,
		       const struct trace_endpoint *ep)
{
	const struct trace_addr every = { .port = ep->remote.port };
	const struct trace_addr *const addresses[] = { &ep->remote, &every };
	const struct trace_endpoint *first = NULL;

	if (ep->proto != TRACE_UDP || !ep->remote.port)
		return -1;
	for (int i = 0; i < 4; i++) {
		struct at_address want = { i & 1 ? AF_INET : AF_INET6, ep->netns, addresses[i / 2],
					   NULL };
		const struct trace_endpoint *x = first_at(bound, &want, ep);

		if (x && (!first || x < first))
			first = x;
	}
	return first ? (int)(first - s->ep) : -1;
}

int *find_bound_there(const struct trace_snapshot *s)
{
	struct by_address bound = list_by_address(s, where_bound);
	int *there = bound.v ? array_new(s->n, 0, sizeof(*there)) : NULL;

	for (size_t i = 0; there && i < s->n; i++)
		there[i] = first_there(s, &bound, &s->ep[i]);
	free(bound.v);
	return there;
}

static bool is_bound_there(const struct trace_endpoint *x, const struct trace_endpoint *ep)
{
	return x != ep && !ended_before(x, ep) && x->proto == TRACE_UDP &&
	       x->local.port == ep->remote.port && x->netns == ep->netns &&
	       (!memcmp(x->local.ip, any.ip, sizeof(any.ip)) ||
		!memcmp(x->local.ip, ep->remote.ip, sizeof(x->local.ip)));
}

int bound_where_it_sends(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (s->bound_there)
		return s->bound_there[ep - s->ep];
	for (size_t i = 0; ep->proto == TRACE_UDP && ep->remote.port && i < s->n; i++)
		if (is_bound_there(&s->ep[i], ep))
			return (int)i;
	return -1;
}
