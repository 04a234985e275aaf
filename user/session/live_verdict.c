// SPDX-License-Identifier: GPL-2.0-only
#include "session/live_verdict.h"

#include "verdict/waiting_processes.h"

#define ASKED_MOST  4 /* servers */
#define SILENT_MOST 2

/* What seems to be a wait may be a feed. */
static void ask_feeding_servers(struct trace_snapshot *s, struct verdict *v)
{
	pid_t asked = 0;

	for (int i = 0; i < ASKED_MOST; i++) {
		pid_t server;

		verdict_make(s, v);
		server = verdict_feeding_server(s, v);
		if (!server || server == asked)
			return;
		trace_ask_server(s, server);
		asked = server;
	}
	verdict_make(s, v);
}

/* What seems to be idle may be a wait. */
static void ask_silent_servers(struct trace_snapshot *s, struct verdict *v)
{
	pid_t asked[SILENT_MOST];

	for (size_t n = 0; n < SILENT_MOST; n++) {
		asked[n] = verdict_silent_server(s, v, asked, n);
		if (!asked[n])
			return;
		trace_ask_server(s, asked[n]);
		verdict_make(s, v);
	}
}

void live_verdict(struct trace_snapshot *s, struct verdict *v)
{
	if (!s->samples) /* samples know who sent last */
		trace_find_outstanding(s);
	ask_feeding_servers(s, v);
	ask_silent_servers(s, v);
}
