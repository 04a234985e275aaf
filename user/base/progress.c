// SPDX-License-Identifier: GPL-2.0-only
#include "base/progress.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/terminal.h"

#define EVERY_NS 2000000000ull	   /* a line in a pipe */
#define REDRAWN_NS 500000000ull	   /* on a terminal */
#define FOR_PROGRAMS "IPCSTALL_PROGRESS" /* for an ipcstall that this one starts */

static uint64_t said_ns; /* 0: nothing printed yet */

void progress_in_pipe(bool wanted)
{
	if (wanted)
		setenv(FOR_PROGRAMS, "1", 1);
}

static bool in_pipe(void)
{
	return getenv(FOR_PROGRAMS) != NULL;
}

static bool hidden(bool quiet)
{
	return quiet || (!terminal_is(stderr) && !in_pipe());
}

/* Prints nothing if the last line is more recent than every_ns. */
static void say(const char *text, uint64_t every_ns)
{
	uint64_t now = now_ns();

	if (said_ns && now - said_ns < every_ns)
		return;
	said_ns = now;
	if (terminal_is(stderr))
		fprintf(stderr, "\r\033[K%s", text);
	else
		fprintf(stderr, "ipcstall: %s\n", text);
}

void progress_show(bool quiet, size_t at, size_t of, const char *what, double left_s)
{
	bool named = what && *what;
	char text[200], left[40] = "";

	if (hidden(quiet))
		return;
	if (left_s >= 0)
		snprintf(left, sizeof(left), "%s about %.0f s left", named ? "," : "", left_s);
	snprintf(text, sizeof(text), "[%zu/%zu]%s%s%s", at, of, named ? " " : "",
		 named ? what : "", left);
	say(text, terminal_is(stderr) ? 0 : EVERY_NS);
}

void progress_time(bool quiet, const char *what, uint64_t began_ns, uint64_t duration_ns)
{
	uint64_t gone = now_ns() - began_ns;
	char text[200], of[40] = "";

	if (hidden(quiet) || gone < EVERY_NS)
		return;
	if (duration_ns)
		snprintf(of, sizeof(of), " of %.0f", (double)duration_ns / 1e9);
	snprintf(text, sizeof(text), "%s: %.0f%s s", what, (double)gone / 1e9, of);
	say(text, terminal_is(stderr) ? REDRAWN_NS : EVERY_NS);
}

void progress_word(bool quiet, const char *what)
{
	if (!hidden(quiet))
		say(what, 0);
}

void progress_clear(bool quiet)
{
	if (said_ns && !quiet && terminal_is(stderr))
		fputs("\r\033[K", stderr);
}
