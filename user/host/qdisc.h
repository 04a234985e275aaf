/* SPDX-License-Identifier: GPL-2.0-only */
/* The queues on a link's outgoing path. Each in its own form (not host/link.h's spec): bytes,
 * packets, nanoseconds. */
#ifndef IPCSTALL_HOST_QDISC_H
#define IPCSTALL_HOST_QDISC_H

#include <stdint.h>

#include "host/link.h"

/* Which queues a device carries. A shaped host has both; with a bridge, the switch's ports have
 * only the wire's, and the hosts the rest. */
enum qdisc_part { QDISC_WIRE = 1, QDISC_HOST = 2 };

/* Put the queues on device `ifindex` of the namespace nl lives in, outermost first: netem (delay,
 * jitter, loss), tbf (rate), then the queue asked for by qdisc=. Each is the parent of the next. */
int qdisc_setup(int nl, int ifindex, const struct link_spec *s, unsigned int parts, uint64_t mtu,
		struct err *e);

/* Sum what the queues of the device have seen into drops, overlimits, requeues, backlog, qlen and
 * has_queue. */
int qdisc_read(int nl, int ifindex, struct link_stats *st);

#endif
