/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of a diagnosis, as text and as JSON. */
#ifndef IPCSTALL_DIAGNOSE_REPORT_H
#define IPCSTALL_DIAGNOSE_REPORT_H

#include "diagnose/range.h"
#include "render/paint.h"

void report_text(const struct diagnosis_run *x, const struct diagnosed_workload *p,
		 const struct paint *paint);
/* One element of "diagnoses". */
json_t *report_json(const struct diagnosed_workload *p);
/* The verdict in one paragraph, which both reports above contain. */
void report_verdict(const struct diagnosis_run *x, const struct diagnosed_workload *p, char *buf,
		    size_t len);

void report_range_text(const struct range *r, const struct paint *p);
/* One element of "ranges". */
json_t *report_range_json(const struct range *r);

json_t *diagnosis_schema(void);

#endif
