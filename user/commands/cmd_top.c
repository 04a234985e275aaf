// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall top: where conversations wait, refreshed as it happens. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/terminal.h"
#include "commands/command.h"
#include "session/sampling.h"
#include "session/session.h"
#include "session/zoom_steps.h"
#include "base/clock.h"
#include "render/schema_rows.h"
#include "render/sink.h"
#include "top/batch.h"
#include "top/loop.h"
#include "top/pace.h"
#include "tracer/digest.h"

struct top_opts {
	struct session_opts live; /* first: its rows count from its beginning */
	int64_t delay_ns, iterations, rows, width;
	int sort;
	bool reverse, active, batch;
	char *filter, *json;
	uint64_t end_ns; /* 0: when told to */
	FILE *lines;	 /* where --json goes */
};

#define TOP(member) offsetof(struct top_opts, member)

static const struct opt top_options[] = {
	OPT_HEAD("Which processes (default: all)"),
	TARGET_OPTIONS,
	OPT_HEAD("What to trace"),
	SEEN_OPTIONS,
	SAMPLED_OPTIONS,
	OPT_HEAD("Screen and lines"),
	{ OPT_TIME, 'i', "interval", "TIME", "time between refreshes; longer for "
		"thousands of endpoints, within the CPU limit", TOP(delay_ns), 50e6, 3600e9 },
	{ OPT_TIME, 'd', "duration", "TIME", "end after this time (0: at q or Ctrl-C)",
		SESSION_OPT(duration_ns), 0, 86400e9 },
	{ OPT_INT, 0, "iterations", "N", "end after this many refreshes (0: never)",
		TOP(iterations), 0, 1e9 },
	{ OPT_ENUM, 's', "sort", "KEY", "stall, rate, messages, rtt, program or age", TOP(sort), 0,
		0, row_sort_names },
	{ OPT_FLAG, 'r', "reverse", NULL, "reverse the order", TOP(reverse) },
	{ OPT_FLAG, 0, "active", NULL, "only endpoints that moved or stalled in the interval "
		"(default; --no-active: all)", TOP(active) },
	{ OPT_STRING, 'f', "filter", "WORDS", "only rows that contain every word: "
					      "program, pid, address, protocol, cause, "
					      "who is blamed", TOP(filter) },
	{ OPT_FLAG, 'b', "batch", NULL, "plain lines instead of a screen (also when standard "
		"output is no terminal)", TOP(batch) },
	{ OPT_INT, 'n', "shown", "N", "in plain lines and JSON: at most this many rows "
				      "for each refresh (0: all)", TOP(rows), 0, 1 << 20 },
	{ OPT_INT, 'w', "width", "N", "width of plain lines", TOP(width), 20, 1000 },
	{ OPT_STRING, 0, "json", "FILE", "one JSON object for each refresh, each on "
					 "its own line (-: standard output)", TOP(json) },
	{ OPT_FLAG, 0, "json-schema", NULL, "print the schema of these lines and exit",
		SESSION_OPT(json_schema) },
	OPT_HEAD("Privileges (of --batch and --json; the screen keeps what it has)"),
	DROP_OPTION("once all is attached"),
	OPT_END,
};

static void defaults(void *opts)
{
	struct top_opts *o = opts;

	session_defaults(&o->live);
	o->live.max_endpoints = 32768;
	o->delay_ns = 1000000000;
	o->rows = 20;
	o->width = 132;
	o->active = true;
}

static int look(struct session *l, struct rows *p, struct trace_digests *spare, struct err *e)
{
	if (trace_digests_take(l->t, spare, e))
		return -1;
	if (rows_take(p, spare))
		return err_resource(e, "top: no memory for %zu endpoints; trace fewer", spare->n);
	return 0;
}

enum { NAP_NS = 100000000 };

/* or until whoever is looked at has ended: what it did last is an interval too */
static void wait_until(uint64_t when, const struct trace_options *filter)
{
	while (!session_interrupted() && targets_any_alive(filter)) {
		uint64_t now = now_ns();

		if (now >= when)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = when - now < NAP_NS ? (long)(when - now)
									     : NAP_NS },
			  NULL);
	}
}

static int show(const struct top_opts *o, struct rows *p, struct err *e)
{
	int bad;

	rows_order(p, (enum row_sort)o->sort, o->reverse, o->active, o->filter);
	bad = o->lines ? batch_json(p, (size_t)o->rows, o->lines)
		      : batch_lines(p, (size_t)o->rows, (int)o->width, stdout);
	return bad ? err_sys(e, EXIT_IO, "free some space or start its reader, and run again",
			     "%s", o->lines ? sink_name(o->json) : "standard output")
		   : 0;
}

static bool over(const struct top_opts *o)
{
	return o->end_ns && now_ns() >= o->end_ns;
}

static int refresh(struct session *l, const struct top_opts *o, struct rows *p,
		   struct trace_digests *spare, struct err *e)
{
	return look(l, p, spare, e) || show(o, p, e) ? -1 : 0;
}

/* The first interval begins when all is attached: rights are dropped in it, not before it. */
static int begin_batch(struct session *l, struct rows *p, struct trace_digests *spare,
		       struct err *e)
{
	return look(l, p, spare, e) || session_drop_privileges(l, false, e) ? -1 : 0;
}

static int run_batch(struct session *l, const struct top_opts *o,
		     const struct trace_options *filter, struct err *e)
{
	struct trace_digests spare = {};
	struct pace pace = { .limit = filter->budget };
	struct rows p = {};
	uint64_t next = now_ns();
	bool alive = true;
	int rc;

	pace_begin(&pace);
	rc = begin_batch(l, &p, &spare, e);
	pace_end(&pace);

	for (int64_t i = 0; rc == 0 && alive && (!o->iterations || i < o->iterations); i++) {
		next = next_due(next, pace_interval(&pace, (uint64_t)o->delay_ns), now_ns());
		wait_until(o->end_ns && o->end_ns < next ? o->end_ns : next, filter);
		if (session_interrupted())
			break;
		alive = targets_any_alive(filter) && !over(o);
		pace_begin(&pace);
		rc = refresh(l, o, &p, &spare, e);
		pace_end(&pace);
	}
	trace_digests_free(&spare);
	rows_free(&p);
	return rc;
}

struct watched {
	const struct top_opts *o;
	const struct trace_options *filter;
};

static bool ended(void *ctx)
{
	const struct watched *w = ctx;

	return session_interrupted() || !targets_any_alive(w->filter) || over(w->o);
}

/* `ipcstall try` on that endpoint, as if it had been typed; it asks by itself. */
static void run_try(pid_t tgid, const struct trace_digest *of)
{
	bool by_port = of->proto == TRACE_TCP || of->proto == TRACE_UDP;
	char pid[16], only[16];

	snprintf(pid, sizeof(pid), "%d", tgid);
	snprintf(only, sizeof(only), "%s", trace_proto_name(of->proto));
	if (by_port)
		snprintf(only, sizeof(only), "%u", of->local.port);
	if (!strncmp(only, "unix", 4))
		only[4] = '\0';
	execl("/proc/self/exe", "ipcstall", "try", "-p", pid, by_port ? "-P" : "--proto", only,
	      (char *)NULL);
	_exit(EXIT_NO_RESOURCE);
}

/* Ctrl-C is meant for it, not for top. */
static void wait_for(pid_t pid)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

	sigaction(SIGINT, &ignore, &before);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &before, NULL);
}

static void try_fix(const struct trace_digest *of)
{
	pid_t tgid = of->tx_tgid ? of->tx_tgid : of->rx_tgid, pid = tgid ? fork() : -1;
	int c;

	if (pid == 0)
		run_try(tgid, of);
	if (pid > 0)
		wait_for(pid);
	fprintf(stderr, "%s; press Enter to go back to top\n",
		tgid ? "done" : "no process was seen to use this endpoint");
	do
		c = getchar();
	while (c != '\n' && c != EOF);
}

enum { RECENT_STEPS = 20000 };

static void on_transition(void *ctx, const struct trace_transition *tr)
{
	recent_step(ctx, tr);
}

static bool steps_of(void *steps, const struct trace_digest *e, const struct trace_digest *peer)
{
	return zoom_steps_of(steps, e, peer);
}

static int ledgers(void *steps, struct trace_snapshot *s, uint64_t *serial)
{
	return zoom_steps_ledgers(steps, s, serial);
}

static int run_screen(struct session *l, const struct top_opts *o, struct recent *recent,
		      struct trace_options *filter, struct err *e)
{
	struct watched watched = { o, filter };
	struct zoom_steps zoom = { .filter = filter, .step = on_transition, .ctx = recent };
	struct top_loop top = {
		.t = l->t, .recent = recent, .cpu_limit = filter->budget,
			.iterations = (uint64_t)o->iterations, .ended = ended,
			.try_fix = try_fix,
			.ctx = &watched,
		.screen = { .sort = (enum row_sort)o->sort, .reverse = o->reverse,
			.active = o->active, .delay_ns = (uint64_t)o->delay_ns,
			    .backend = trace_backend_name(trace_backend(l->t)),
			    	.span_ns = 2000000000 },
	};

	int rc;

	if (o->filter)
		snprintf(top.screen.filter, sizeof(top.screen.filter), "%s", o->filter);
	if (o->live.sampled) {
		top.steps_of = steps_of;
		top.ledgers = ledgers;
		top.steps = &zoom;
	}
	rc = top_loop_run(&top, e);
	zoom_steps_end(&zoom);
	return rc;
}

/* Enter on the screen loads programs, and its key t runs `ipcstall try`: both need what top was
 * started with. Who reads lines has no keys. */
static int check_user(const struct top_opts *o, struct err *e)
{
	return o->live.user && !o->batch
		       ? err_usage(e,
				   "--user %s: the screen needs its privileges for Enter and the "
				   "key t; add --batch, or leave out --user",
				   o->live.user)
		       : 0;
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	struct recent recent = { .lock = PTHREAD_MUTEX_INITIALIZER, .kept.max = RECENT_STEPS };
	struct trace_options filter = { .samples = true, .ctx = &recent,
		.on_transition = on_transition };
	struct top_opts *o = opts;
	struct session l = {};
	int rc;

	if (o->live.json_schema)
		return schema_print(top_schema(), e);
	if (sampling_choose(&o->live, e) || targets_or_all(&o->live, "top", &filter, e))
		return -1;
	o->batch = o->batch || o->json || !terminal_is(stdout);
	filter.timeline = o->batch || o->live.sampled ? TRACE_TIMELINE_NONE : TRACE_TIMELINE_ONE;
	if (check_user(o, e))
		return -1;
	session_catch_signals();
	if (o->json && !(o->lines = sink_open_stream(o->json, e)))
		return -1;
	if (session_open(&l, &o->live, &filter, e))
		return -1;
	o->end_ns = o->live.duration_ns ? now_ns() + (uint64_t)o->live.duration_ns : 0;
	rc = o->batch ? run_batch(&l, o, &filter, e) : run_screen(&l, o, &recent, &filter, e);
	session_free(&l);
	timeline_free(&recent.kept);
	if (o->lines && o->lines != stdout)
		fclose(o->lines);
	return rc ? e->code : EXIT_DONE;
}

const struct command command_top = {
	.name = "top",
	.summary = "Show every connection live: its rate, its stall, the cause, and who waits for "
		"whom",
	.description = "Every figure is of the last interval. STALL is the share of it in which "
		"data was ready and held back. FOR WHOM is who kept it waiting: a program, the "
		"other end's address, the path or a CPU. WHY is the largest cause and what the "
		"other end did: delayed its ACK, or did not read; '?' marks what is inferred from "
		"this end alone; 'drops' means no stall, but datagrams dropped on this host. OUT "
		"and IN are bytes per second, MSG/s counts calls that sent or received, and NOW "
		"is the state of both ledgers at this moment. '-' means none or not observed; '>' "
		"marks a sum that misses some traffic. If root starts it with --batch or --json, "
		"it attaches and then runs as nobody (--user).",
	.examples = "ipcstall top\tevery connection of this machine\nipcstall top -p 1234 -s "
		"rate\tone server, the busiest first\nipcstall top -b --iterations 1 -i 5s -f "
		"nagle\twhat Nagle's algorithm held in the next five seconds\nipcstall top --json "
		"top.ndjson -n 0 -d 1m\tall rows as JSON, for a program to read\n",
	.options = top_options,
	.options_size = sizeof(struct top_opts),
	.defaults = defaults,
	.run = run,
};
