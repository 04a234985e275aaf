// SPDX-License-Identifier: GPL-2.0-only
/* What a session sees: a snapshot with its own losses, and the head of every document about it. */
#include <time.h>

#include "host/machine.h"
#include "render/environment.h"
#include "render/ledger_text.h"
#include "session/prover.h"
#include "session/session.h"

int session_snapshot(struct session *l, struct trace_snapshot *s, struct err *e)
{
	int rc = trace_snapshot(l->t, s, e);

	if (rc == 0)
		s->counters.stacks_lost += stalls_texts_lost(&l->stalls);
	if (rc == 0 && l->prover) {
		s->rulings = l->prover->rulings;
		s->n_rulings = l->prover->n_rulings;
	}
	return rc;
}

json_t *session_head(struct session *l, json_t *about)
{
	struct machine m;
	char now[32];
	time_t t = time(NULL);
	struct tm tm;
	json_t *doc;

	machine_read(&m);
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	doc = json_pack("{s:o, s:o, s:s, s:o, s:o}", "tool", build_to_json(&build), "machine",
			machine_to_json(&m), "written", now, "invocation",
			invocation_to_json(), "trace", trace_to_json(l->t));
	json_object_update_missing(doc, about);
	return doc;
}
