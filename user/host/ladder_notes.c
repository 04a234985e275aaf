// SPDX-License-Identifier: GPL-2.0-only
/* What a rung of the ladder says of itself. */
#include <stdarg.h>
#include <stdio.h>

#include "host/ladder.h"

void ladder_note(struct ladder *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
}

int ladder_fail(struct ladder *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
	return -1;
}
