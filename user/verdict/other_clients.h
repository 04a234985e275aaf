/* SPDX-License-Identifier: GPL-2.0-only */
/* The clients that kept a server busy while a connection waited for accept(), or its data for a
 * read. */
#ifndef IPCSTALL_VERDICT_OTHER_CLIENTS_H
#define IPCSTALL_VERDICT_OTHER_CLIENTS_H

#include "tracer/trace.h"

struct other_clients {
	size_t n;
	size_t one; /* index of its connection, the server's end, if n is 1 */
	uint64_t ns; /* how long the server worked for them, or waited for them, in all; no longer
			than the connection, or its data, waited */
};

/* n 0: no other clients kept the server busy for most of the time in which nobody accepted the
 * connection at endpoint i, or read the data there. */
struct other_clients other_clients_meanwhile(const struct trace_snapshot *s, size_t i,
					     uint64_t unread_ns);
/* The data that lay unread there waited mostly for accept(), and not for a read. */
bool lay_in_queue(const struct trace_endpoint *ep, uint64_t unread_ns);

#endif
