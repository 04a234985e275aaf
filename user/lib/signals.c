// SPDX-License-Identifier: GPL-2.0-only
#include "lib/signals.h"

#include <stddef.h>

static struct sigaction pipe_as_given;

void signals_begin(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGPIPE, &ignore, &pipe_as_given);
}

void signals_catch(int sig, const struct sigaction *sa)
{
	struct sigaction before;

	if (sigaction(sig, NULL, &before) || before.sa_handler == SIG_IGN)
		return;
	sigaction(sig, sa, NULL);
}

void signals_as_given(void)
{
	sigaction(SIGPIPE, &pipe_as_given, NULL);
}
