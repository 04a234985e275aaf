// SPDX-License-Identifier: GPL-2.0-only
#include "base/progress.h"
#include "base/terminal.h"

#include <stdio.h>

static bool hidden(bool quiet)
{
	return quiet || !terminal_is(stderr);
}

void progress_show(bool quiet, size_t at, size_t of, const char *what, double left_s)
{
	bool named = what && *what;

	if (hidden(quiet))
		return;
	fprintf(stderr, "\r\033[K[%zu/%zu]%s%s", at, of, named ? " " : "", named ? what : "");
	if (left_s >= 0)
		fprintf(stderr, "%s about %.0f s left", named ? "," : "", left_s);
}

void progress_clear(bool quiet)
{
	if (!hidden(quiet))
		fputs("\r\033[K", stderr);
}
