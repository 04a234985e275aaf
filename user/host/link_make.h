/* SPDX-License-Identifier: GPL-2.0-only */
/* For link.c and link_make.c only: where the devices of a link are. */
#ifndef IPCSTALL_HOST_LINK_MAKE_H
#define IPCSTALL_HOST_LINK_MAKE_H

#include "host/link.h"

/* We choose the interface indexes. They are high, so that tunnel devices which some kernels put
 * into every namespace (net.core.fb_tunnels_only_for_init_net) cannot have them. lo is 1 everywhere
 * (LOOPBACK_IFINDEX). Hosts and ports add their side: the kernel takes two ends of a veth pair with
 * the same index for one device, and their carrier for not urgent, which costs a second
 * (linkwatch_urgent_event()). */
enum { LINK_LO_INDEX = 1, LINK_HOST_INDEX = 100, LINK_PORT_INDEX = 110, LINK_BRIDGE_INDEX = 120 };
enum { LINK_SWITCH = LINK_SIDES }; /* index of the switch's namespace */

/* How many namespaces the kind takes, and which of them a side's host is. */
static inline int link_ns_count(const struct link_spec *s)
{
	return s->kind == LINK_LO ? 1 : s->kind == LINK_VETH ? 2 : 3;
}

static inline int link_ns_of(const struct link_spec *s, enum link_side side)
{
	return s->kind == LINK_LO ? 0 : (int)side;
}

static inline int link_host_index(const struct link_spec *s, int side)
{
	return s->kind == LINK_LO ? LINK_LO_INDEX : LINK_HOST_INDEX + side;
}

/* The addresses of the two hosts, [side]. */
extern const char *const link_addr4[LINK_SIDES], *const link_addr6[LINK_SIDES];

/* Make everything l->spec asks for and fill l's descriptors. Changes the calling process's
 * namespaces: call it in a child. */
int link_make(struct link *l, struct err *e);

#endif
