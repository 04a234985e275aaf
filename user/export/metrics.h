/* SPDX-License-Identifier: GPL-2.0-only */
/* What is exported: the table of metrics, and their text from the groups. */
#ifndef IPCSTALL_EXPORT_METRICS_H
#define IPCSTALL_EXPORT_METRICS_H

#include "export/groups.h"
#include "export/openmetrics.h"

/* of the exporter itself */
struct exporter_state {
	const char *version, *git, *backend;
	bool sampled;
	uint64_t cpu_ns, resident_bytes, start_unix_s;
	uint64_t scrapes,
		refused;     /* requests answered with metrics; answered otherwise, or not at all */
	uint64_t collect_ns; /* what the last collection took */
	uint64_t collections;
};

/* x->openmetrics says in which format. */
void metrics_write(struct exposition *x, const struct groups *g, const struct exporter_state *e);

#endif
