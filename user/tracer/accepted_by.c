// SPDX-License-Identifier: GPL-2.0-only
/* Sampled session: names the process of a connection that ended before its process was seen. It is
 * the process that has all other connections at that local address, if there is only one. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tracer/internal.h"

static int by_address(const void *a, const void *b)
{
	const struct trace_endpoint *x = *(struct trace_endpoint *const *)a,
				    *y = *(struct trace_endpoint *const *)b;

	return COMPARE(x->local.port, y->local.port) ?: COMPARE(x->netns, y->netns) ?:
	       memcmp(x->local.ip, y->local.ip, sizeof(x->local.ip));
}

static const struct trace_call_stats *named(const struct trace_endpoint *ep)
{
	return ep->rx_calls.tgid ? &ep->rx_calls : ep->tx_calls.tgid ? &ep->tx_calls : NULL;
}

/* NULL: none, or several */
static const struct trace_call_stats *owner_of(struct trace_endpoint *const *v, size_t n)
{
	const struct trace_call_stats *owner = NULL, *one;

	for (size_t i = 0; i < n; i++) {
		one = named(v[i]);
		if (one && owner && one->tgid != owner->tgid)
			return NULL;
		owner = one ? one : owner;
	}
	return owner;
}

static void name_as(struct trace_call_stats *b, const struct trace_call_stats *owner)
{
	b->tgid = owner->tgid;
	b->cgroup_id = owner->cgroup_id;
	memcpy(b->comm, owner->comm, sizeof(b->comm));
}

static void name_all(struct trace_endpoint **v, size_t n)
{
	const struct trace_call_stats *owner = n > 1 ? owner_of(v, n) : NULL;

	for (size_t i = 0; owner && i < n; i++)
		if (!named(v[i])) {
			name_as(&v[i]->rx_calls, owner);
			name_as(&v[i]->tx_calls, owner);
		}
}

void accepted_by_fill(struct trace_snapshot *s)
{
	struct trace_endpoint **v = array_new(s->n, 1, sizeof(*v));
	size_t n = 0, first = 0;

	for (size_t i = 0; v && i < s->n; i++)
		if (s->ep[i].proto == TRACE_TCP)
			v[n++] = &s->ep[i];
	if (n)
		qsort(v, n, sizeof(*v), by_address);
	for (size_t i = 1; i <= n; i++)
		if (i == n || by_address(&v[first], &v[i])) {
			name_all(v + first, i - first);
			first = i;
		}
	free(v);
}
