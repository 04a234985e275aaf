// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall attach: the ledgers of programs that already run. */
#include "commands/command.h"
#include "session/session.h"
#include "session/prover.h"
#include "session/sampling.h"
#include "base/clock.h"
#include "render/environment.h"
#include "render/schema_rows.h"

static const struct opt attach_options[] = {
	OPT_HEAD("Which processes (-p and --comm, -c, or -a; -P alone: all)"),
	TARGET_OPTIONS,
	OPT_HEAD("How"),
	SAMPLED_OPTIONS,
	ZOOM_BUDGET_OPTION,
	SESSION_OPTIONS,
	{ OPT_TIME, 'd', "duration", "TIME", "stop after this time (default: at Ctrl-C)",
	  SESSION_OPT(duration_ns), 1, 1e18 },
	OPT_END,
};

struct watched {
	struct session *l;
	const struct trace_options *filter;
	struct err *e;
};

/* also while the ledger is looked at: the running report goes on */
static bool is_over(void *ctx)
{
	struct watched *w = ctx;

	return session_interrupted() || !targets_any_alive(w->filter) ||
	       session_tick(w->l, w->e);
}

static void watch(struct session *l, struct prover *p, const struct trace_options *t,
		  struct err *e)
{
	uint64_t deadline = l->o->duration_ns ? l->began_ns + (uint64_t)l->o->duration_ns
					      : UINT64_MAX;
	struct watched w = { l, t, e };
	struct zoom_stop stop = { is_over, &w };

	while (!is_over(&w)) {
		uint64_t now = now_ns();

		if (now >= deadline || prover_tick(p, l->t, deadline, &stop, e))
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

/* From here on it is known how long readers ran on a CPU. */
static int first_sample(struct session *l, struct err *e)
{
	struct trace_snapshot s;

	if (trace_snapshot(l->t, &s, e))
		return -1;
	trace_snapshot_free(&s);
	return 0;
}

int session_attach(const struct session_opts *o, const char *command, struct err *e)
{
	struct trace_options filter = {};
	struct session l = {};
	struct prover prover = {};
	double zooms = 0;
	uint64_t began;
	json_t *about;
	int rc;

	if (o->sampled && sampling_zoom_budget(o, &zooms, e))
		return -1;
	if (targets_from_options(o, command, &filter, e))
		return -1;
	session_catch_signals();
	began = now_ns();
	if (session_begin(&l, o, &filter, e))
		return -1;
	if (o->sampled && first_sample(&l, e)) {
		session_free(&l);
		return -1;
	}
	prover_begin(&prover, &filter, zooms, now_ns() - began);
	l.prover = &prover;
	if (!o->quiet)
		fprintf(stderr, "ipcstall: attached; %s\n",
			o->duration_ns ? "waiting" : "Ctrl-C ends it");
	prover_prepare(&prover, l.t, (uint64_t)o->duration_ns); /* the samples have begun */
	about = about_filter(o, &filter);
	rc = session_announce(&l, about, e);
	if (rc == 0)
		watch(&l, &prover, &filter, e);
	if (o->sampled)
		json_object_set_new(about, "proofs", prover_to_json(&prover));
	if (rc == 0)
		rc = session_end_and_report(&l, about, e);
	prover_end(&prover);
	json_decref(about);
	session_free(&l);
	return rc ? e->code : EXIT_DONE;
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	struct session_opts *o = opts;

	if (o->json_schema)
		return schema_print(ledger_schema(), e);
	return sampling_choose(o, e) ? -1 : session_attach(o, "attach", e);
}

const struct command command_attach = {
	.name = "attach",
	.summary = "Show where the connections of running programs lose time",
	.description =
		"Connections that are already open are seen too; their earlier history is "
		"unknown. A stall in progress shows at once. Connections are sampled. If the "
		"samples suspect a stall or find a wait, or if they find nothing and the process "
		"(a single -p) is idle, exact tracing (as with --exact) runs for two seconds, and "
		"the card may show its result. Ends at Ctrl-C, after --duration, or when the last "
		"of the given processes ends.",
	.examples = "ipcstall attach -p 1234 -d 10s\tten seconds of one server\n"
		    "ipcstall attach -a -P 5432 -d 1m\tevery connection on port 5432\n",
	.options = attach_options,
	.options_size = sizeof(struct session_opts),
	.defaults = session_defaults,
	.run = run,
};
