// SPDX-License-Identifier: GPL-2.0-only
/* The note of a rung: how it was measured, or why it could not be. */
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
