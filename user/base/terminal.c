// SPDX-License-Identifier: GPL-2.0-only
#include "base/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_is(FILE *f)
{
	return isatty(fileno(f));
}

int terminal_width(FILE *f)
{
	const char *asked = getenv("COLUMNS");
	struct winsize ws = {};

	if (asked && atoi(asked) > 0)
		return atoi(asked);
	return terminal_is(f) && ioctl(fileno(f), TIOCGWINSZ, &ws) == 0 ? ws.ws_col : 0;
}
