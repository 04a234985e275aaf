/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of the fixes that were tried on a running program: for people and as JSON. */
#ifndef IPCSTALL_TRY_CASE_REPORT_H
#define IPCSTALL_TRY_CASE_REPORT_H

#include <jansson.h>

#include "render/paint.h"
#include "try/live_case.h"

/* Says what will be set on which descriptors, before the user is asked. */
void case_plan_text(const struct live_case *c, const struct paint *p);
void case_text(const struct live_case *c, const struct paint *p);
/* about: the processes that the session traced. Returns a new reference. */
json_t *case_json(struct live_case *c, json_t *about);
json_t *case_schema(void);

#endif
