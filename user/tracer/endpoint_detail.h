/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for the details of endpoints. They stay where they are until all are freed, so an endpoint
 * may be moved within its array, or copied for as long as they live. */
#ifndef IPCSTALL_TRACER_ENDPOINT_DETAIL_H
#define IPCSTALL_TRACER_ENDPOINT_DETAIL_H

#include "tracer/trace.h"

/* The endpoint's own detail, a new one of zeros if it has none. NULL: no memory, which
 * all->no_memory tells from then on. */
struct trace_detail *detail_of(struct trace_details *all, struct trace_endpoint *ep);
/* Gives a copy of an endpoint a detail of its own, if it has one. */
bool detail_unshare(struct trace_details *all, struct trace_endpoint *ep);
void details_free(struct trace_details *all);

#endif
