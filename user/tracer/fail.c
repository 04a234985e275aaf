// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "tracer/internal.h"

int fail_sys(struct err *e, int err, const char *what, const char *next)
{
	bool perm = err == EPERM || err == EACCES;

	return err_set(e, perm ? EXIT_NO_PERM : EXIT_NO_RESOURCE, "%s: %s; %s", what, strerror(err),
		       next);
}
