/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom a server was busy with while a connection waited for its accept(), or its data for a read.
 */
#ifndef IPCSTALL_VERDICT_OTHER_CLIENTS_H
#define IPCSTALL_VERDICT_OTHER_CLIENTS_H

#include "tracer/trace.h"

struct other_clients {
	size_t n;
	size_t one; /* index of its connection, the server's end, if n is 1 */
	uint64_t ns; /* that server worked for them, or waited for them, in all; no more than the
			connection, or its data, waited */
};

/* n 0: it was not, for most of the time in which nobody accepted the connection at endpoint i, or
 * read what had come there */
struct other_clients other_clients_meanwhile(const struct trace_snapshot *s, size_t i,
					     uint64_t unread_ns);
/* What lay unread at that endpoint waited for accept(), and not for a read, most of that time. */
bool lay_in_queue(const struct trace_endpoint *ep, uint64_t unread_ns);

#endif
