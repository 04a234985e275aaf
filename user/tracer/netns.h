/* SPDX-License-Identifier: GPL-2.0-only */
/* Network namespaces, each with a process by which sock_diag_enter() gets there. */
#ifndef IPCSTALL_TRACER_NETNS_H
#define IPCSTALL_TRACER_NETNS_H

#include <stdbool.h>
#include <stddef.h>

#include "tracer/trace.h"

#define NETNS_MOST 64

struct netns {
	uint64_t inode;
	pid_t pid;
};

struct netns_list {
	struct netns v[NETNS_MOST];
	size_t n;
};

/* First the one to which requests go now, which has no pid; then those of the endpoints. */
void netns_of_endpoints(const struct trace_snapshot *s, struct netns_list *l);
/* Those of all processes that can be asked */
void netns_of_host(struct netns_list *l);
/* ep's namespace; an endpoint of unknown namespace is in the first. */
bool netns_is_of(const struct netns_list *l, size_t i, const struct trace_endpoint *ep);

#endif
