// SPDX-License-Identifier: GPL-2.0-only
#include "session/live_verdict.h"

#include "verdict/waiting_processes.h"

#define ASKED_MOST 4 /* servers */

void live_verdict(struct trace_snapshot *s, struct verdict *v)
{
	pid_t asked = 0;

	if (!s->looks) /* samples know who sent last */
		trace_find_outstanding(s);
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
