/* SPDX-License-Identifier: GPL-2.0-only */
/* What a packed snapshot holds of each endpoint. */
#ifndef IPCSTALL_TRACER_PACK_H
#define IPCSTALL_TRACER_PACK_H

#include "tracer/trace.h"

struct unpacked {
	struct trace_endpoint ep; /* ep.detail: `detail` or NULL */
	struct trace_detail detail;
	struct trace_samples samples; /* zeros if the snapshot had none */
};

bool packed_find(const struct trace_packed *p, uint64_t serial, size_t *at);
bool packed_has_detail(const struct trace_packed *p, size_t at);
void packed_read(const struct trace_packed *p, size_t at, struct unpacked *out);

#endif
