/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP sockets sorted by an address: those at one address, and the socket that another sends to. */
#ifndef IPCSTALL_VERDICT_BY_ADDRESS_H
#define IPCSTALL_VERDICT_BY_ADDRESS_H

#include "tracer/trace.h"

/* A socket bound to the wildcard address is listed under that, not under each address of its
 * host. */
struct at_address {
	int family;
	uint32_t netns;
	const struct trace_addr *addr;
	const struct trace_endpoint *ep;
};

struct by_address {
	struct at_address *v;
	size_t n;
};

/* The address under which an endpoint is listed. NULL: it is left out. */
typedef const struct trace_addr *endpoint_address(const struct trace_endpoint *ep);

const struct trace_addr *where_bound(const struct trace_endpoint *ep);
/* All UDP sockets that have such an address, to be freed; none if there is no memory. */
struct by_address list_by_address(const struct trace_snapshot *s, endpoint_address *address);
/* The part of the list at the address to which `to` is bound, in any network namespace. */
struct by_address all_at(const struct by_address *list, const struct trace_endpoint *to);

/* Index of the UDP socket of this host that ep's datagrams go to; -1: none was seen. */
int bound_where_it_sends(const struct trace_snapshot *s, const struct trace_endpoint *ep);
/* The same for every endpoint, for trace_snapshot.bound_there: a search through all sockets for
 * each would take minutes. NULL: no memory. */
int *find_bound_there(const struct trace_snapshot *s);

#endif
