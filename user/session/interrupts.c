// SPDX-License-Identifier: GPL-2.0-only
/* Ctrl-C, TERM, HUP and QUIT end a session in good order. */
#include <signal.h>

#include "base/signals.h"
#include "session/session.h"

static volatile sig_atomic_t interrupted, interrupts, from_terminal;

static void note_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	interrupted = sig;
	from_terminal = info->si_code == SI_KERNEL;
	interrupts++;
}

void session_catch_signals(void)
{
	struct sigaction sa = { .sa_sigaction = note_signal, .sa_flags = SA_SIGINFO };

	signals_catch(SIGINT, &sa);
	signals_catch(SIGTERM, &sa);
	signals_catch(SIGHUP, &sa);
	signals_catch(SIGQUIT, &sa);
}

bool session_interrupted(void)
{
	return interrupted;
}

int session_interrupts(void)
{
	return interrupts;
}

bool session_from_terminal(void)
{
	return from_terminal;
}
