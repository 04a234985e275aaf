/* SPDX-License-Identifier: GPL-2.0-only */
/* Sampled session: estimates the connections that ended between two samples, from sampled ones of
 * the same client and server, and no more than these can stand for. */
#ifndef IPCSTALL_VERDICT_UNSAMPLED_CONNECTIONS_H
#define IPCSTALL_VERDICT_UNSAMPLED_CONNECTIONS_H

#include "tracer/trace.h"

struct unsampled {
	size_t n;
	uint64_t lifetime_ns; /* of the unsampled connections */
	uint64_t sampled_ns;  /* lifetimes of the sampled connections */
};

/* Do both have the same remote address and port? */
bool same_server(const struct trace_endpoint *a, const struct trace_endpoint *b);
bool same_client(const struct trace_endpoint *a, const struct trace_endpoint *b);

/* n 0: there are none, or too few samples of the others to tell. */
struct unsampled unsampled_like(const struct trace_snapshot *s, const struct trace_endpoint *ep);
/* The time that the unsampled connections probably had, if the sampled ones had `ns`. */
uint64_t unsampled_part(const struct unsampled *b, uint64_t ns);
/* Unsampled connections of all programs. */
size_t count_unsampled(const struct trace_snapshot *s);

#endif
