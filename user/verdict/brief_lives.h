/* SPDX-License-Identifier: GPL-2.0-only */
/* Of a session by looks, connections that lived between two looks: what the others of one program
 * to the same server did stands for them too. */
#ifndef IPCSTALL_VERDICT_BRIEF_LIVES_H
#define IPCSTALL_VERDICT_BRIEF_LIVES_H

#include "tracer/trace.h"

struct brief_lives {
	size_t n;
	uint64_t lifetime_ns;	 /* of these */
	uint64_t looked_at_ns; /* lifetimes of the others */
};

/* a server is known by its port, which is the remote one of its clients; one that was not seen by
 * its address too */
bool same_server(const struct trace_endpoint *a, const struct trace_endpoint *b);
bool same_client(const struct trace_endpoint *a, const struct trace_endpoint *b);

/* n 0: none, or too few of the others were looked at to tell */
struct brief_lives brief_lives_like(const struct trace_snapshot *s,
				    const struct trace_endpoint *ep);
/* Of a time of those that were looked at, what the brief ones had of it. */
uint64_t brief_part(const struct brief_lives *b, uint64_t ns);
/* those of any program */
size_t count_brief_lives(const struct trace_snapshot *s);

#endif
