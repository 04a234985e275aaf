// SPDX-License-Identifier: GPL-2.0-only
#include "lib/signals.h"

#include <stdbool.h>
#include <stddef.h>

#define SIGNALS 32

/* set before any thread or child is there */
static bool ignored[SIGNALS], changed[SIGNALS];

/* what is not caught when exec comes is passed on as it is: the first change is what tells how it was given */
static void note_given(int sig)
{
	struct sigaction before;

	if (changed[sig] || sigaction(sig, NULL, &before))
		return;
	changed[sig] = true;
	ignored[sig] = before.sa_handler == SIG_IGN;
}

void signals_begin(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	note_given(SIGPIPE);
	sigaction(SIGPIPE, &ignore, NULL);
}

void signals_catch(int sig, const struct sigaction *sa)
{
	note_given(sig);
	if (sig != SIGHUP || !ignored[sig])
		sigaction(sig, sa, NULL);
}

void signals_as_given(void)
{
	struct sigaction sa = {};

	for (int sig = 1; sig < SIGNALS; sig++) {
		if (!changed[sig])
			continue;
		sa.sa_handler = ignored[sig] ? SIG_IGN : SIG_DFL;
		sigaction(sig, &sa, NULL);
	}
}
