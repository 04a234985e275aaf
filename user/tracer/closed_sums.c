// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/closed_sums.h"

#include <stdlib.h>

#include "tracer/figure.h"

/* one piece of memory, which begins with the endpoints */
struct rest {
	struct trace_endpoint ep[TRACE_PROTOS];
	struct trace_detail detail[TRACE_PROTOS];
};

struct trace_endpoint *closed_sums_copy(const struct trace_endpoint *from)
{
	struct rest *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *(const struct rest *)from;
	for (int p = 0; p < TRACE_PROTOS; p++)
		copy->ep[p].detail = &copy->detail[p];
	return copy->ep;
}

struct trace_endpoint *closed_sums_new(void)
{
	struct rest *all = calloc(1, sizeof(*all));
	struct trace_endpoint *rest = all ? all->ep : NULL;

	for (int p = 0; rest && p < TRACE_PROTOS; p++) {
		rest[p].detail = &all->detail[p];
		rest[p].proto = (enum trace_proto)p;
		rest[p].peer = -1;
		rest[p].closed = true;
		figures_begin_sum(&figures_of_calls, &rest[p].tx_calls);
		figures_begin_sum(&figures_of_calls, &rest[p].rx_calls);
	}
	return rest;
}
