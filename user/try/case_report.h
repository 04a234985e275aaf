/* SPDX-License-Identifier: GPL-2.0-only */
/* What was tried on a running program, and what came of it: for people and as JSON. */
#ifndef IPCSTALL_TRY_CASE_REPORT_H
#define IPCSTALL_TRY_CASE_REPORT_H

#include <jansson.h>

#include "render/paint.h"
#include "try/live_case.h"

/* What will be set on what, before anybody is asked. */
void case_plan_text(const struct live_case *c, const struct paint *p);
void case_text(const struct live_case *c, const struct paint *p);
/* about: whom the session looked at; a new reference */
json_t *case_json(struct live_case *c, json_t *about);
json_t *case_schema(void);

#endif
