/* SPDX-License-Identifier: GPL-2.0-only */
/* Sampled session: estimates connections that ended between two samples from other connections of
 * the same client and server, of no more than these can stand for. */
#ifndef IPCSTALL_VERDICT_UNSAMPLED_CONNECTIONS_H
#define IPCSTALL_VERDICT_UNSAMPLED_CONNECTIONS_H

#include "tracer/trace.h"

struct unsampled {
	size_t n;
	uint64_t lifetime_ns; /* of these */
	uint64_t sampled_ns;  /* lifetimes of the others */
};

/* a server is known by its port, which is the remote one of its clients; one that was not seen by
 * its address too */
bool same_server(const struct trace_endpoint *a, const struct trace_endpoint *b);
bool same_client(const struct trace_endpoint *a, const struct trace_endpoint *b);

/* n 0: none, or too few samples of the others to tell */
struct unsampled unsampled_like(const struct trace_snapshot *s, const struct trace_endpoint *ep);
/* Of a time of the sampled ones, what the others probably had of it. */
uint64_t unsampled_part(const struct unsampled *b, uint64_t ns);
/* those of any program */
size_t count_unsampled(const struct trace_snapshot *s);

#endif
