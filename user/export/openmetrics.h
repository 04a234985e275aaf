/* SPDX-License-Identifier: GPL-2.0-only */
/* The exposition formats: OpenMetrics 1.0 and the older Prometheus text, which differ in the names
 * of counters and the end. */
#ifndef IPCSTALL_EXPORT_OPENMETRICS_H
#define IPCSTALL_EXPORT_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

/* name: without _total or _info, which come from the type. */
struct metric {
	const char *name;
	enum metric_type type;
	const char *help;
};

struct exposition {
	char *text;
	size_t n, room;
	bool openmetrics, failed; /* failed: no memory */
};

void expo_family(struct exposition *x, const struct metric *m);
/* labels: `process="a",proto="tcp"` or "": see label_add(). */
void expo_u64(struct exposition *x, const struct metric *m, const char *labels, uint64_t v);
void expo_seconds(struct exposition *x, const struct metric *m, const char *labels, uint64_t ns);
/* le: upper bounds in seconds, the last is +Inf; n: counts of each, not cumulated. */
void expo_histogram(struct exposition *x, const struct metric *m, const char *labels,
		    const double *le, const uint64_t *n, size_t buckets, uint64_t sum_ns);
void expo_end(struct exposition *x);
void expo_free(struct exposition *x);

/* Appends NAME="VALUE", escaped. value: UTF-8, the encoding of both formats. */
void label_add(char *labels, size_t size, const char *name, const char *value);

#endif
