// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall export: the ledgers as metrics, for Prometheus and what reads OpenMetrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/command.h"
#include "session/sampling.h"
#include "session/session.h"
#include "export/http.h"
#include "export/metrics.h"
#include "base/clock.h"
#include "host/machine.h"

struct export_opts {
	struct session_opts live; /* first: its rows count from its beginning */
	char *listen;
	int64_t max_groups, cgroup_depth, interval_ns;
	bool once;
	int format;
};

#define EXPORT(member) offsetof(struct export_opts, member)

enum { FORMAT_OPENMETRICS, FORMAT_PROMETHEUS };
static const char *const formats[] = { "openmetrics", "prometheus", NULL };

static const struct opt export_options[] = {
	OPT_HEAD("Which processes (default: all)"),
	TARGET_OPTIONS,
	OPT_HEAD("What to trace"),
	SEEN_OPTIONS,
	SAMPLED_OPTIONS,
	OPT_HEAD("Metrics"),
	{ OPT_STRING, 'l', "listen", "ADDRESS:PORT", "where to serve /metrics", EXPORT(listen) },
	{ OPT_INT, 0, "max-groups", "N", "at most this many groups of program, cgroup and "
					 "protocol; any more are counted as process=\"other\"",
	  EXPORT(max_groups), 1, GROUPS_MAX },
	{ OPT_INT, 0, "cgroup-depth", "N", "keep this many components of a cgroup's "
					   "path in the label (0: none)",
		EXPORT(cgroup_depth), 0, 64 },
	{ OPT_TIME, 0, "interval", "TIME", "read the ledgers at least this often, even "
					   "if nobody asks", EXPORT(interval_ns), 100e6, 600e9 },
	{ OPT_FLAG, 0, "once", NULL, "print the metrics of one interval on standard "
				     "output, and exit", EXPORT(once) },
	{ OPT_ENUM, 0, "format", "NAME", "format of --once: openmetrics or prometheus "
					 "(the older text); a client gets what it asks "
					 "for", EXPORT(format), 0, 0,
	  formats },
	OPT_HEAD("Privileges"),
	DROP_OPTION("once all is attached and bound"),
	OPT_END,
};

static void defaults(void *opts)
{
	struct export_opts *o = opts;

	session_defaults(&o->live);
	o->live.max_endpoints = 32768;
	/* Prometheus' list of exporters hands out 9100 to 9999 and the numbers after it; 9435 is
	 * ebpf_exporter's, often on the same host. */
	o->listen = strdup("127.0.0.1:19435");
	o->max_groups = 100;
	o->cgroup_depth = 8;
	o->interval_ns = 10000000000;
}

/* Several scrapers at once are served the same reading. */
#define FRESH_NS 250000000ull

struct exporter {
	struct session live;
	struct groups groups;
	struct exporter_state state;
	struct exposition text;
	uint64_t read_ns;
	struct err *e;
	uint64_t read_cpu_ns; /* that this took the last time */
	bool failed;
};

static int read_ledgers(struct exporter *x)
{
	struct trace_snapshot s;
	uint64_t t0 = now_ns(), cpu = thread_cpu_ns();

	if (trace_snapshot(x->live.t, &s, x->e))
		return -1;
	if (groups_add(&x->groups, &s)) {
		err_resource(x->e, "export: no memory for %zu endpoints; trace fewer", s.n);
		trace_snapshot_free(&s);
		return -1;
	}
	trace_forget_closed(x->live.t);
	x->read_ns = now_ns();
	x->state.collect_ns = x->read_ns - t0;
	x->state.collections++;
	x->read_cpu_ns = thread_cpu_ns() - cpu;
	return 0;
}

/* Of samples: reading 20,000 endpoints takes a third of a second of a CPU. */
#define READING_SHARE 0.01

static uint64_t next_reading(const struct exporter *x, uint64_t age)
{
	if (x->state.sampled)
		age = gap_for_share(age, x->read_cpu_ns, READING_SHARE);
	return x->read_ns + age;
}

static void read_if_old(struct exporter *x, uint64_t age)
{
	if (!x->failed && now_ns() >= next_reading(x, age) && read_ledgers(x))
		x->failed = true;
}

/* A busy service closes ten thousand connections a second: they are added up before they take much
 * memory. */
enum { CLOSED_AT_ONCE = 2048 };

static void read_if_many_closed(struct exporter *x)
{
	if (!x->failed && trace_closed_kept(x->live.t) >= CLOSED_AT_ONCE && read_ledgers(x))
		x->failed = true;
}

static uint64_t resident_bytes(void)
{
	unsigned long long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_metrics(struct exporter *x, bool openmetrics)
{
	x->text.n = 0;
	x->text.failed = false;
	x->text.openmetrics = openmetrics;
	x->state.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	x->state.resident_bytes = resident_bytes();
	metrics_write(&x->text, &x->groups, &x->state);
}

static void serve_metrics(struct exporter *x, const struct http_request *q, struct http_reply *r)
{
	read_if_old(x, FRESH_NS);
	if (x->failed)
		return;
	x->state.scrapes++;
	write_metrics(x, q->openmetrics);
	if (x->text.failed)
		return;
	r->status = 200;
	r->type = q->openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				 : "text/plain; version=0.0.4; charset=utf-8";
	r->body = x->text.text;
	r->n = x->text.n;
}

static void handle(void *ctx, const struct http_request *q, struct http_reply *r)
{
	static const char home[] = "ipcstall export: the metrics are at /metrics\n",
			  none[] = "no such page; the metrics are at /metrics\n";
	bool root = !strcmp(q->path, "/");

	if (!strcmp(q->path, "/metrics")) {
		serve_metrics(ctx, q, r);
		return;
	}
	r->status = root ? 200 : 404;
	r->body = root ? home : none;
	r->n = strlen(r->body);
}

static int serve(struct exporter *x, const struct export_opts *o, struct http_server *s,
		 const struct trace_options *filter, struct err *e)
{
	while (!session_interrupted() && !x->failed && targets_any_alive(filter)) {
		uint64_t due = next_reading(x, (uint64_t)o->interval_ns),
			 poll = now_ns() + 250000000;

		http_serve(s, due < poll ? due : poll, handle, x);
		x->state.refused = http_refused(s);
		read_if_old(x, (uint64_t)o->interval_ns);
		read_if_many_closed(x);
	}
	return x->failed ? -1 : 0;
}

static int print_once(struct exporter *x, const struct export_opts *o, struct err *e)
{
	uint64_t end = now_ns() + (uint64_t)o->interval_ns;

	while (!session_interrupted() && now_ns() < end)
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	if (read_ledgers(x))
		return -1;
	write_metrics(x, o->format == FORMAT_OPENMETRICS);
	if (x->text.failed)
		return err_resource(e, "export: no memory for the text; give fewer --max-groups");
	return fwrite(x->text.text, 1, x->text.n, stdout) == x->text.n && !fflush(stdout)
		       ? 0
		       : err_sys(e, EXIT_IO, "free some space or start its reader, and run again",
				 "standard output");
}

static int run_exporter(struct exporter *x, const struct export_opts *o, struct http_server *s,
			struct trace_options *filter, struct err *e)
{
	int rc;

	if (groups_init(&x->groups, (size_t)o->max_groups, (size_t)o->cgroup_depth,
			trace_cgroup_path))
		return err_resource(e, "export: no memory for %lld groups; give fewer --max-groups",
				    (long long)o->max_groups);
	if (session_open(&x->live, &o->live, filter, e))
		return -1;
	if (session_drop_privileges(&x->live, false, e))
		return -1;
	x->state.backend = trace_backend_name(trace_backend(x->live.t));
	x->state.sampled = o->live.sampled;
	if (o->once)
		return print_once(x, o, e);
	rc = read_ledgers(x);
	if (rc == 0)
		fprintf(stderr, "ipcstall: backend %s; metrics at http://%s/metrics\n",
			x->state.backend, o->listen);
	return rc ? rc : serve(x, o, s, filter, e);
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	struct export_opts *o = opts;
	struct trace_options filter = {};
	struct exporter x = { .e = e, .state = { .version = build.version, .git = build.git,
		.start_unix_s = (uint64_t)time(NULL) } };
	struct http_server *s = NULL;
	int rc;

	if (opt_given(rest, "format") && !o->once)
		return err_usage(e, "--format without --once: a client is served the format it "
				    "asks for; leave it out, or add --once");
	if (sampling_choose(&o->live, e) || targets_or_all(&o->live, "export", &filter, e))
		return -1;
	session_catch_signals();
	if (!o->once) {
		s = http_listen(o->listen, e);
		if (!s)
			return e->code;
	}
	rc = run_exporter(&x, o, s, &filter, e);
	session_free(&x.live);
	groups_free(&x.groups);
	expo_free(&x.text);
	http_close(s);
	return rc ? e->code : EXIT_DONE;
}

const struct command command_export = {
	.name = "export",
	.summary = "Serve the ledgers as metrics, for Prometheus and other readers of OpenMetrics",
	.description = "Serves /metrics over HTTP until it is interrupted. Labels are program, "
		"cgroup, protocol and cause, never addresses or process numbers. Series beyond "
		"the limit are added to process=\"other\" and counted. There is no access "
		"control: listen on a loopback address, or where only the scraper can reach. "
		"docs/monitoring/ has a dashboard, alert rules and a systemd unit. If root starts "
		"it, it attaches, binds its port and then runs as nobody (--user).",
	.examples = "ipcstall export\tserve 127.0.0.1:19435/metrics, every process\n"
		    "ipcstall export -c /sys/fs/cgroup/system.slice -l 10.0.0.5:19435\tthe "
		    	"services of this machine, for a scraper elsewhere\n"
		    "ipcstall export --once --interval 5s\tprint the metrics of five "
		    	"seconds\n",
	.options = export_options,
	.options_size = sizeof(struct export_opts),
	.defaults = defaults,
	.run = run,
};
