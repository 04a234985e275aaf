/* SPDX-License-Identifier: GPL-2.0-only */
/* What a packed snapshot holds of each endpoint. */
#ifndef IPCSTALL_TRACER_PACK_H
#define IPCSTALL_TRACER_PACK_H

#include "tracer/trace.h"

/* A copy of a snapshot's `rest`. NULL: no memory. */
struct trace_endpoint *rest_copy(const struct trace_endpoint *rest);
bool packed_find(const struct trace_packed *p, uint64_t serial, size_t *at);
/* If there are no looks, *looks becomes zeros. */
void packed_read(const struct trace_packed *p, size_t at, struct trace_endpoint *ep,
		 struct trace_looks *looks);

#endif
