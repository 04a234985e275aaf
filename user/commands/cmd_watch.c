// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall watch: silent until something stalls, then a card and a line of JSON with the proof. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"
#include "commands/command.h"
#include "render/ledger_text.h"
#include "session/prover.h"
#include "session/sampling.h"
#include "session/session.h"
#include "session/suspects.h"
#include "verdict/judge.h"

struct watch_opts {
	struct session_opts live; /* first: the option offsets count from its beginning */
	int64_t every_ns, before_ns, report_again_ns, dump_ns;
	double min_percent;
};

#define WATCH(member) offsetof(struct watch_opts, member)

static const struct opt watch_options[] = {
	OPT_HEAD("Which processes (default: all)"),
	TARGET_OPTIONS,
	OPT_HEAD("What to trace"),
	SEEN_OPTIONS,
	BUDGET_OPTION,
	OPT_HEAD("What to report"),
	{ OPT_TIME, 'i', "interval", "TIME", "time between two verdicts", WATCH(every_ns),
		500e6, 600e9 },
	{ OPT_REAL, 0, "min-share", "PERCENT", "report a stall that takes at least "
					       "this share of a connection's time",
		WATCH(min_percent), 0.1, 100 },
	{ OPT_TIME, 0, "again", "TIME", "report the same stall again after this time",
		WATCH(report_again_ns), 1e9, 86400e9 },
	ZOOM_BUDGET_OPTION,
	{ OPT_TIME, 0, "before", "TIME", "keep the verdicts of the last TIME; SIGUSR1 writes "
					 "them to standard output", WATCH(before_ns), 1e9, 3600e9 },
	{ OPT_TIME, 0, "threshold", "TIME", "also write the kept verdicts if a connection stalls "
					    "this long in one interval",
		WATCH(dump_ns), 1e6, 600e9 },
	{ OPT_TIME, 'd', "duration", "TIME", "end after this time (default: at Ctrl-C)",
		SESSION_OPT(duration_ns), 1, 1e18 },
	PROGRESS_OPTION,
	OPT_HEAD("Privileges"),
	DROP_OPTION("once all is attached"),
	OPT_END,
};

/* Of the connections that close in one interval, the most stalled are judged and the rest are
 * summed. A busy service closes ten thousand, of 5 KB each. */
enum { CLOSED_PER_INTERVAL = 1024 };

static void defaults(void *opts)
{
	struct watch_opts *o = opts;

	session_defaults(&o->live);
	o->live.sampled = true;
	o->live.max_endpoints = 32768;
	o->live.max_closed = CLOSED_PER_INTERVAL;
	o->every_ns = 2000000000;
	o->before_ns = 300000000000;
	o->report_again_ns = 300000000000;
	o->min_percent = 10;
}

enum { REPORTED_MOST = 256 };

struct watch {
	const struct watch_opts *o;
	struct session live;
	struct prover prover;
	struct trace_packed last;    /* sums at the last judgement; at_ns 0: not of all endpoints */
	struct trace_snapshot since; /* the same without endpoints */
	uint64_t end_ns;
	struct {
		uint64_t serial, at_ns;
		enum tx_state cause;
	} reported[REPORTED_MOST];
	size_t n_reported;
	json_t **before; /* a ring */
	size_t n_before, at_before;
};

static volatile sig_atomic_t asked;

static void on_usr1(int sig)
{
	asked = 1;
}

static void write_line(json_t *line)
{
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
}

/* ---- the minutes before ---- */

static void keep_judgement(struct watch *w, const struct trace_snapshot *window,
			   const struct verdict *v)
{
	json_t *line = json_pack("{s:s, s:i, s:s, s:I, s:o}", "schema", "ipcstall.watch", "version",
				 1, "type", "before", "t", (json_int_t)window->at_ns, "ledger",
				 ledger_summary_to_json(window, v));

	json_decref(w->before[w->at_before]);
	w->before[w->at_before] = line;
	w->at_before = (w->at_before + 1) % w->n_before;
}

static void dump_before(struct watch *w)
{
	for (size_t i = 0; i < w->n_before; i++) {
		json_t *line = w->before[(w->at_before + i) % w->n_before];

		if (line)
			write_line(line);
		json_decref(line);
		w->before[(w->at_before + i) % w->n_before] = NULL; /* each is written once */
	}
	asked = 0;
}

/* ---- what is new ---- */

/* Was this stall not reported within --again? Then notes it, in the oldest entry if there is no
 * room. */
static bool is_new(struct watch *w, uint64_t serial, enum tx_state cause)
{
	uint64_t now = now_ns();
	size_t oldest = 0, i;

	for (i = 0; i < w->n_reported; i++) {
		if (w->reported[i].serial == serial && w->reported[i].cause == cause)
			break;
		if (w->reported[i].at_ns < w->reported[oldest].at_ns)
			oldest = i;
	}
	if (i < w->n_reported && now - w->reported[i].at_ns < (uint64_t)w->o->report_again_ns)
		return false;
	if (i == w->n_reported && w->n_reported < REPORTED_MOST)
		w->n_reported++;
	else if (i == w->n_reported)
		i = oldest;
	w->reported[i].serial = serial;
	w->reported[i].cause = cause;
	w->reported[i].at_ns = now;
	return true;
}

#define ASKED_AGAIN_NS 30000000000ull

/* The stall was not reported. Lets it be reported in a while, if it is still suspected then. */
static void ask_again(struct watch *w, uint64_t serial, enum tx_state cause)
{
	uint64_t after = (uint64_t)w->o->report_again_ns;

	for (size_t i = 0; i < w->n_reported; i++)
		if (w->reported[i].serial == serial && w->reported[i].cause == cause)
			w->reported[i].at_ns -= after > ASKED_AGAIN_NS ? after - ASKED_AGAIN_NS : 0;
}

static bool is_worth_telling(const struct watch *w, const struct verdict *v, size_t i)
{
	return judge_is_stall(v, i) && 100 * finding_share(&v->v[i]) >= w->o->min_percent;
}

/* The first stall that was not reported yet, beginning with the leading one, so that a stall
 * that goes on for days hides no other. v->n: there is none. */
static size_t new_stall(struct watch *w, const struct trace_snapshot *window,
			const struct verdict *v)
{
	if (v->outcome != OUTCOME_STALLED || v->kind != KIND_STALL)
		return v->n;
	for (size_t k = 0; k <= v->n; k++) {
		size_t i = k ? k - 1 : v->lead;

		if (is_worth_telling(w, v, i) &&
		    is_new(w, window->ep[v->v[i].endpoint].serial, v->v[i].cause))
			return i;
	}
	return v->n;
}

/* ---- the proof ---- */

static bool stopped(void *ctx)
{
	return session_interrupted();
}

static bool is_sure_by_samples(const struct trace_snapshot *window, const struct finding *f)
{
	return f->surety != SUSPECTED && !window->samples[f->endpoint].again;
}

/* Several connections of the same programs are one finding, at the place of any of them. */
static bool is_of_same_programs(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->proto == b->proto && a->tx_calls.tgid && a->tx_calls.tgid == b->tx_calls.tgid;
}

/* Which of the ledger's findings is the stall that samples suspect? -1: none, whatever else stalls
 * in the same processes */
static int proven_finding(const struct watch *w, const struct trace_endpoint *suspect, bool several,
			  const struct trace_snapshot *proof, const struct verdict *proven)
{
	if (proven->outcome != OUTCOME_STALLED || proven->kind != KIND_STALL)
		return -1;
	for (size_t i = 0; i < proven->n; i++) {
		const struct trace_endpoint *end = &proof->ep[proven->v[i].endpoint];

		if (is_worth_telling(w, proven, i) &&
		    (is_same_end(suspect, end) || (several && is_of_same_programs(suspect, end))))
			return (int)i;
	}
	return -1;
}

/* The same verdict, led by this finding. */
static struct verdict led_by(const struct verdict *v, size_t i)
{
	struct verdict led = *v;

	led.lead = i;
	led.share = finding_share(&v->v[i]);
	return led;
}

static void write_card(const struct watch *w, const struct trace_snapshot *s,
		       const struct verdict *v)
{
	session_screen(&w->o->live, s, v, stderr);
}

static void write_stall(const struct trace_snapshot *window, const struct verdict *v,
			json_t *proof)
{
	json_t *line = json_pack("{s:s, s:i, s:s, s:I, s:o, s:o}", "schema", "ipcstall.watch",
				 "version", 1, "type", "stall", "t", (json_int_t)window->at_ns,
				 "ledger", ledger_summary_to_json(window, v), "proof", proof);

	write_line(line);
	json_decref(line);
}

static void write_proven(const struct watch *w, const struct trace_snapshot *window,
			 const struct verdict *v, const struct trace_snapshot *proof,
			 const struct verdict *proven, int at)
{
	struct verdict led = at < 0 ? *proven : led_by(proven, (size_t)at);

	if (at < 0)
		write_card(w, window, v);
	else
		write_card(w, proof, &led);
	write_stall(window, v, ledger_summary_to_json(proof, &led));
}

/* A stall that samples only suspect, or that took extra samples to find, is reported only if the
 * ledger proves it. */
static void report_stall(struct watch *w, const struct trace_snapshot *window,
			 const struct verdict *v)
{
	const struct finding *f = &v->v[v->lead];
	const struct trace_endpoint *suspect = &window->ep[f->endpoint];
	struct trace_snapshot proof = {};
	struct verdict proven = {};
	struct zoom_stop stop = { .asked = stopped };
	struct parties who = parties_of_stall(window, f);
	bool has = prover_prove(&w->prover, &who, w->end_ns, &stop, &proof);
	int at = -1;

	if (has) {
		verdict_make(&proof, &proven);
		at = proven_finding(w, suspect, f->all.connections > 1, &proof, &proven);
	}
	if (at < 0 && !is_sure_by_samples(window, f)) {
		ask_again(w, suspect->serial, f->cause);
	} else if (has) {
		write_proven(w, window, v, &proof, &proven, at);
	} else {
		write_card(w, window, v);
		write_stall(window, v, json_null());
	}
	trace_snapshot_free(&proof);
}

/* ---- each interval ---- */

static uint64_t longest_ns(const struct verdict *v)
{
	return v->n ? v->v[v->lead].ns : 0;
}

/* A snapshot of this many endpoints costs no more than the samples do. */
#define WHOLE_MOST 256

/* The window of all endpoints. */
static int whole_window(struct watch *w, struct trace_snapshot *window, struct err *e)
{
	bool begun = w->last.head.at_ns;

	if (session_snapshot(&w->live, window, e))
		return -1;
	trace_take_stalled(w->live.t, NULL); /* drop them: next time may use suspects_window() */
	if (trace_next_phase(window, &w->last)) {
		err_resource(e, "watch: no memory for %zu endpoints; trace fewer", window->n);
		trace_snapshot_free(window);
		return -1;
	}
	w->since = w->last.head;
	w->since.rest = NULL;
	if (!begun)
		trace_snapshot_free(window);
	return 0;
}

/* The window of the endpoints that samples found stalled. */
static int suspects_window(struct watch *w, struct trace_snapshot *window, struct err *e)
{
	trace_packed_free(&w->last);
	return suspects_take(w->live.t, &w->since, window, e);
}

static int take_window(struct watch *w, struct trace_snapshot *window, struct err *e)
{
	struct trace_sampling sampled;
	int rc;

	trace_sampled(w->live.t, &sampled);
	if (sampled.endpoints > WHOLE_MOST)
		rc = suspects_window(w, window, e);
	else
		rc = whole_window(w, window, e);
	trace_forget_closed(w->live.t);
	return rc;
}

static int judge_window(struct watch *w, struct err *e)
{
	struct zoom_stop stop = { .asked = stopped };
	struct trace_snapshot window;
	struct verdict v, led;
	size_t at;

	if (take_window(w, &window, e))
		return -1;
	suspects_confirm(w->live.t, &window, w->end_ns, &stop);
	verdict_make(&window, &v);
	if (window.n || window.sampling.endpoints)
		keep_judgement(w, &window, &v);
	at = new_stall(w, &window, &v);
	if (at < v.n) {
		led = led_by(&v, at);
		report_stall(w, &window, &led);
	}
	if (asked || (w->o->dump_ns && v.outcome == OUTCOME_STALLED &&
		      longest_ns(&v) >= (uint64_t)w->o->dump_ns))
		dump_before(w);
	trace_snapshot_free(&window);
	return 0;
}

static int watch_all(struct watch *w, const struct trace_options *filter, struct err *e)
{
	uint64_t next = now_ns(),
		 end = w->o->live.duration_ns ? next + (uint64_t)w->o->live.duration_ns
					      : UINT64_MAX;

	w->end_ns = end;
	while (!session_interrupted() && targets_any_alive(filter) && now_ns() < end) {
		next = next_due(next, (uint64_t)w->o->every_ns, now_ns());
		while (!session_interrupted() && !asked && now_ns() < next && now_ns() < end &&
		       targets_any_alive(filter))
			nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
		if (judge_window(w, e))
			return -1;
	}
	return 0;
}

static int begin(struct watch *w, struct trace_options *filter, double zoom_budget, struct err *e)
{
	w->n_before = (size_t)(w->o->before_ns / w->o->every_ns) + 1;
	w->before = calloc(w->n_before, sizeof(*w->before));
	if (!w->before)
		return err_resource(
			e, "watch: no memory to keep past verdicts; give a shorter --before");
	if (session_open(&w->live, &w->o->live, filter, e))
		return -1;
	progress_word(false, "loading the ledger's probes, for proofs");
	prover_begin(&w->prover, filter, zoom_budget, 0);
	if (prover_load(&w->prover, e) ||
	    session_drop_privileges(&w->live, w->prover.loaded, e))
		return -1;
	/* the number of endpoints becomes known with the samples */
	if (trace_snapshot_some(w->live.t, NULL, 0, &w->since, e))
		return -1;
	trace_snapshot_free(&w->since);
	return 0;
}

static void end(struct watch *w)
{
	for (size_t i = 0; w->before && i < w->n_before; i++)
		json_decref(w->before[i]);
	free(w->before);
	trace_packed_free(&w->last);
	prover_end(&w->prover);
	session_free(&w->live);
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	struct watch_opts *o = opts;
	struct trace_options filter = {};
	struct watch w = { .o = o };
	struct sigaction usr1 = { .sa_handler = on_usr1 };
	double zoom_budget;
	int rc;

	if (sampling_zoom_budget(&o->live, &zoom_budget, e))
		return -1;
	if (targets_or_all(&o->live, "watch", &filter, e))
		return -1;
	session_catch_signals();
	signals_catch(SIGUSR1, &usr1);
	rc = begin(&w, &filter, zoom_budget, e);
	progress_clear(false);
	if (rc == 0)
		fprintf(stderr, "ipcstall: watching\n");
	if (rc == 0)
		rc = watch_all(&w, &filter, e);
	end(&w);
	return rc ? e->code : EXIT_DONE;
}

const struct command command_watch = {
	.name = "watch",
	.summary = "Watch silently, and report with proof when something stalls",
	.description = "Samples every endpoint at random instants, which adds no cost to any "
		"message, and judges the result every --interval. If a connection seems to stall, "
		"the ledger traces its two ends for two seconds, within --zoom-budget of the "
		"time. The ledger's verdict is the proof: one card goes to standard error, and "
		"one line of JSON (docs/SCHEMA.md) to standard output. SIGUSR1 writes the "
		"verdicts of the last minutes, one JSON object on each line. If root starts it, "
		"it attaches and then runs as nobody (--user).",
	.examples = "ipcstall watch\tevery process of this machine\n"
		    "ipcstall watch -c /sys/fs/cgroup/system.slice --threshold 1s "
		    	">stalls.ndjson\talso write the five minutes before a stall of a second\n",
	.options = watch_options,
	.options_size = sizeof(struct watch_opts),
	.defaults = defaults,
	.run = run,
};
