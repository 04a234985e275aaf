// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall attach: the ledgers of programs that already run. */
#include "commands/command.h"
#include "session/session.h"
#include "session/sampling.h"
#include "base/clock.h"
#include "render/environment.h"
#include "render/schema_rows.h"

static const struct opt attach_options[] = {
	OPT_HEAD("Whom to look at (at least one)"),
	TARGET_OPTIONS,
	OPT_HEAD("How"),
	SAMPLED_OPTIONS,
	SESSION_OPTIONS,
	{ OPT_TIME, 'd', "duration", "TIME", "stop after this time (default: at Ctrl-C)",
		SESSION_OPT(duration_ns), 1, 1e18 },
	OPT_END,
};

static void watch(struct session *l, const struct trace_options *t, struct err *e)
{
	uint64_t deadline = l->o->duration_ns ? now_ns() + (uint64_t)l->o->duration_ns : UINT64_MAX;

	while (!session_interrupted() && targets_any_alive(t)) {
		uint64_t now = now_ns();

		if (now >= deadline)
			return;
		if (session_tick(l, e))
			return;
		trace_poll(l->t, deadline - now < 100000000 ? (int)((deadline - now) / 1000000) + 1
							    : 100);
	}
}

static json_t *about_filter(const struct session_opts *o, const struct trace_options *t)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < t->n_tgids; i++)
		json_array_append_new(pids, json_integer(t->tgids[i]));
	return json_pack("{s:{s:o, s:o, s:o, s:b}}", "attached_to", "pids", pids, "comm",
			 json_text(o->comm), "cgroup", json_text(o->cgroup), "all",
			 t->filter == TRACE_FILTER_ALL);
}

int session_attach(const struct session_opts *o, const char *command, struct err *e)
{
	struct trace_options filter = {};
	struct session l = {};
	json_t *about;
	int rc;

	if (targets_from_options(o, command, &filter, e))
		return -1;
	session_catch_signals();
	if (session_begin(&l, o, &filter, e))
		return -1;
	if (!o->quiet)
		fprintf(stderr, "ipcstall: attached; %s\n",
			o->duration_ns ? "waiting" : "Ctrl-C ends it");
	about = about_filter(o, &filter);
	rc = session_announce(&l, about, e);
	if (rc == 0)
		watch(&l, &filter, e);
	if (rc == 0)
		rc = session_end_and_report(&l, about, e);
	json_decref(about);
	session_free(&l);
	return rc ? e->code : EXIT_DONE;
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct session_opts *o = opts;

	return o->json_schema ? schema_print(ledger_schema(), e) : session_attach(o, "attach", e);
}

const struct command command_attach = {
	.name = "attach",
	.summary = "Show where the connections of running programs lose time",
	.description = "Picks up connections in mid-life: what was before is unknown, and said to "
		"be; a stall under way shows from the first\n"
		       "moment on. Ends at Ctrl-C, after --duration, or when the last process it "
		       	"was given ends.",
	.examples = "ipcstall attach -p 1234 -d 10s\tten seconds of one server\n"
		    "ipcstall attach -a -P 5432 -d 1m\tevery connection on port 5432\n",
	.options = attach_options,
	.options_size = sizeof(struct session_opts),
	.defaults = session_defaults,
	.run = run,
};
