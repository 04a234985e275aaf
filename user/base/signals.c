// SPDX-License-Identifier: GPL-2.0-only
#include "base/signals.h"

#include <stdbool.h>
#include <stddef.h>

#define SIGNALS 32

/* set before any thread or child is there */
static bool ignored[SIGNALS], changed[SIGNALS];

/* exec passes on a signal that was not changed; so the first change must note how the signal was
 * given */
static void note_given(int sig)
{
	struct sigaction before;

	if (changed[sig] || sigaction(sig, NULL, &before))
		return;
	changed[sig] = true;
	ignored[sig] = before.sa_handler == SIG_IGN;
}

/* A write reports these as an error too (EPIPE, EFBIG), and its caller can name the file. */
static const int to_say[] = { SIGPIPE, SIGXFSZ };

void signals_begin(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(to_say) / sizeof(to_say[0]); i++) {
		note_given(to_say[i]);
		sigaction(to_say[i], &ignore, NULL);
	}
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
