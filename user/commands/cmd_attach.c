// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall attach: the ledgers of programs that already run. */
#include "commands/command.h"
#include "session/session.h"
#include "base/clock.h"
#include "render/environment.h"
#include "render/schema_rows.h"

static const struct opt attach_options[] = {
	OPT_HEAD("Whom to look at (at least one)"),
	LIVE_WHOM,
	LIVE_OPTIONS,
	{ OPT_TIME, 'd', "duration", "TIME", "stop after this time (default: at Ctrl-C)", LIVE_OPT(duration_ns), 1, 1e18 },
	OPT_END,
};

static void watch(struct live *l, const struct trace_options *t, struct err *e)
{
	uint64_t deadline = l->o->duration_ns ? now_ns() + (uint64_t)l->o->duration_ns : UINT64_MAX;

	while (!live_interrupted() && live_any_alive(t)) {
		uint64_t now = now_ns();

		if (now >= deadline)
			return;
		if (live_tick(l, e))
			return;
		trace_poll(l->t, deadline - now < 100000000 ? (int)((deadline - now) / 1000000) + 1 : 100);
	}
}

static json_t *about_filter(const struct live_opts *o, const struct trace_options *t)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < t->n_tgids; i++)
		json_array_append_new(pids, json_integer(t->tgids[i]));
	return json_pack("{s:{s:o, s:o, s:o, s:b}}", "attached_to", "pids", pids, "comm", json_text(o->comm), "cgroup", json_text(o->cgroup), "all",
			 o->all);
}

int live_attach(const struct live_opts *o, const char *command, struct err *e)
{
	struct trace_options filter = {};
	struct live l = {};
	json_t *about;
	int rc;

	if (live_whom(o, command, &filter, e))
		return -1;
	live_catch_signals();
	if (live_begin(&l, o, &filter, e))
		return -1;
	if (!o->quiet)
		fprintf(stderr, "ipcstall: attached; %s\n", o->duration_ns ? "waiting" : "Ctrl-C ends it");
	about = about_filter(o, &filter);
	rc = live_announce(&l, about, e);
	if (rc == 0)
		watch(&l, &filter, e);
	if (rc == 0)
		rc = live_end_and_report(&l, about, e);
	json_decref(about);
	live_free(&l);
	return rc ? e->code : EXIT_DONE;
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct live_opts *o = opts;

	return o->json_schema ? schema_print(live_schema(), e) : live_attach(o, "attach", e);
}

const struct command command_attach = {
	.name = "attach",
	.summary = "Show where the conversations of running programs wait",
	.description = "Picks up connections in mid-life: what was before is unknown, and said to be; a stall under way shows from the first\n"
		       "moment on. Ends at Ctrl-C, after --duration, or when the last process it was given ends.",
	.examples = "ipcstall attach -p 1234 -d 10s\tten seconds of one server\n"
		    "ipcstall attach -a -P 5432 -d 1m\tevery conversation on port 5432\n",
	.options = attach_options,
	.options_size = sizeof(struct live_opts),
	.defaults = live_defaults,
	.run = run,
};
