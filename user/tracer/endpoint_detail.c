// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/endpoint_detail.h"

#include <stdlib.h>
#include <string.h>

#define PER_CHUNK 16

struct details_chunk {
	struct details_chunk *older;
	size_t n;
	struct trace_detail v[PER_CHUNK];
};

const struct trace_detail trace_no_detail;

static struct trace_detail *next_free(struct trace_details *all)
{
	struct details_chunk *c = all->newest;

	if (!c || c->n == PER_CHUNK) {
		c = malloc(sizeof(*c));
		if (!c) {
			all->no_memory = true;
			return NULL;
		}
		c->older = all->newest;
		c->n = 0;
		all->newest = c;
	}
	memset(&c->v[c->n], 0, sizeof(c->v[0]));
	return &c->v[c->n++];
}

struct trace_detail *detail_of(struct trace_details *all, struct trace_endpoint *ep)
{
	if (!ep->detail)
		ep->detail = next_free(all);
	return ep->detail;
}

bool detail_unshare(struct trace_details *all, struct trace_endpoint *ep)
{
	const struct trace_detail *from = ep->detail;

	ep->detail = NULL;
	if (from && detail_of(all, ep))
		*ep->detail = *from;
	return !from || ep->detail;
}

void details_free(struct trace_details *all)
{
	struct details_chunk *c = all->newest, *older;

	for (; c; c = older) {
		older = c->older;
		free(c);
	}
	*all = (struct trace_details){};
}
