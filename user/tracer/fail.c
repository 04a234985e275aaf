// SPDX-License-Identifier: GPL-2.0-only
/* Fills a struct trace_error: what went wrong, why, and what to do next. */
#include <errno.h>
#include <string.h>

#include "tracer/internal.h"

int fail(struct trace_error *e, int code, const char *what, const char *why, const char *next)
{
	if (e->code)
		return -1;
	e->code = code;
	snprintf(e->what, sizeof(e->what), "%s", what);
	snprintf(e->why, sizeof(e->why), "%s", why);
	snprintf(e->next, sizeof(e->next), "%s", next);
	return -1;
}

int fail_sys(struct trace_error *e, int err, const char *what, const char *next)
{
	bool perm = err == EPERM || err == EACCES;

	return fail(e, perm ? EXIT_NO_PERM : EXIT_NO_RESOURCE, what, strerror(err), next);
}
