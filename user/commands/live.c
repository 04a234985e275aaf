// SPDX-License-Identifier: GPL-2.0-only
#include "commands/live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/machine.h"
#include "model/environment.h"
#include "sinks/ledger.h"

const char *const live_backends[] = { "auto", "fentry", "kprobe", "rawtp", NULL };

static volatile sig_atomic_t interrupted;

static void note_signal(int sig)
{
	interrupted = sig;
}

void live_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = note_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

bool live_interrupted(void)
{
	return interrupted;
}

void live_defaults(void *opts)
{
	struct live_opts *o = opts;

	o->max_endpoints = 4096;
	o->shown = 10;
}

int live_error(struct err *e, const struct trace_error *te)
{
	return err_set(e, te->code, "%s: %s; %s", te->what, te->why, te->next);
}

static int proto_bits(const char *name)
{
	static const struct {
		const char *name;
		unsigned int bits;
	} rows[] = {
		{ "tcp", 1u << TRACE_TCP },
		{ "udp", 1u << TRACE_UDP },
		{ "pipe", 1u << TRACE_PIPE },
		{ "unix", 1u << TRACE_UNIX_STREAM | 1u << TRACE_UNIX_DGRAM | 1u << TRACE_UNIX_SEQPACKET },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return (int)rows[i].bits;
	return 0;
}

static int set_protos(const struct live_opts *o, struct trace_options *t, struct err *e)
{
	for (size_t i = 0; i < o->protos.n; i++) {
		int bits = proto_bits(o->protos.v[i]);

		if (!bits)
			return err_set(e, EXIT_BAD_USAGE, "--proto '%s': unknown; give tcp, udp, pipe or unix", o->protos.v[i]);
		t->protos |= (unsigned int)bits;
	}
	return 0;
}

static int parse_ports(const char *text, long *lo, long *hi)
{
	char *end;

	*lo = *hi = strtol(text, &end, 10);
	if (end != text && *end == '-') {
		const char *second = end + 1;

		*hi = strtol(second, &end, 10);
		if (end == second)
			return -1;
	}
	return end == text || *end || *lo < 1 || *hi > 65535 || *lo > *hi ? -1 : 0;
}

static int set_ports(const struct live_opts *o, struct trace_options *t, struct err *e)
{
	long lo, hi;

	if (!o->ports.n)
		return 0;
	if (o->ports.n > 1)
		return err_set(e, EXIT_BAD_USAGE, "--port: given %zu times; give one port or one range A-B", o->ports.n);
	if (parse_ports(o->ports.v[0], &lo, &hi))
		return err_set(e, EXIT_BAD_USAGE, "--port '%s': not a port (1 to 65535) nor a range A-B", o->ports.v[0]);
	t->port_lo = (uint16_t)lo;
	t->port_hi = (uint16_t)hi;
	if (!t->protos)	/* nothing else has ports */
		t->protos = 1u << TRACE_TCP | 1u << TRACE_UDP;
	return 0;
}

static void print_stall(void *ctx, const struct trace_stall *st)
{
	char took[32];
#define CAUSE_NAME(sym, num, name, stall, nist, what, fix) [sym] = name,
	static const char *const names[TX_N] = { TX_STATES(CAUSE_NAME) };

	human_ns((double)(st->to_ns - st->from_ns), took, sizeof(took));
	fprintf(stderr, "stall: %s %s of %.16s[%d]%s%.16s%s\n", took, names[st->state], st->comm, st->tgid,
		st->peer_tgid ? ", kept waiting by " : "", st->peer_tgid ? st->peer_comm : "", st->by_delack ? " (its delayed ACK)" : "");
}

int live_begin(struct live *l, const struct live_opts *o, struct trace_options *filter, struct err *e)
{
	struct trace_error te = {};

	*l = (struct live){ .o = o };
	filter->backend = (enum trace_backend)o->backend;
	filter->max_endpoints = (unsigned int)o->max_endpoints;
	filter->stall_threshold_ns = (uint64_t)o->threshold_ns;
	if (o->threshold_ns)
		filter->on_stall = print_stall;
	if (set_protos(o, filter, e) || set_ports(o, filter, e))
		return -1;
	l->t = trace_prepare(filter, &te);
	if (!l->t)
		return live_error(e, &te);
	if ((o->cost && trace_cost_enable(l->t, &te)) || trace_start(l->t, &te)) {
		live_free(l);
		return live_error(e, &te);
	}
	return 0;
}

/* A stall that matters to a person: a thousandth of the endpoint's time and a millisecond in all. */
#define MIN_SHARE 0.01
#define MIN_NS 1000000

int live_end(struct live *l, struct err *e)
{
	struct trace_error te = {};

	if (trace_snapshot(l->t, &l->end, &te) || trace_stop(l->t, &te))
		return live_error(e, &te);
	verdict_make(&l->end, MIN_SHARE, MIN_NS, &l->verdict);
	return 0;
}

static void cost_table(struct live *l, FILE *out)
{
	struct trace_cost c[64];
	size_t n = trace_costs(l->t, c, 64);

	fprintf(out, "  cost of the tracing itself, as the kernel counted it:\n");
	for (size_t i = 0; i < n; i++)
		if (c[i].runs)
			fprintf(out, "    %-28s %10llu runs  %7.0f ns each\n", c[i].name, (unsigned long long)c[i].runs,
				(double)c[i].ns / (double)c[i].runs);
}

static json_t *document(struct live *l, json_t *about)
{
	struct machine m;
	
	char now[32];
	time_t t = time(NULL);
	struct tm tm;
	json_t *doc;

	machine_read(&m);
	
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	doc = json_pack("{s:s, s:i, s:o, s:o, s:s, s:o, s:o}", "schema", "ipcstall.trace", "version", 1, "tool", build_to_json(&build), "machine",
			machine_to_json(&m), "written", now, "trace", trace_to_json(l->t), "ledger", ledger_to_json(&l->end, &l->verdict));
	json_object_update_missing(doc, about);
	return doc;
}

static int write_json(struct live *l, json_t *about, struct err *e)
{
	bool std = strcmp(l->o->json, "-") == 0;
	FILE *f = std ? stdout : fopen(l->o->json, "w");
	json_t *doc;
	int bad;

	if (!f)
		return err_sys(e, EXIT_IO, "give a file that can be written", "--json %s", l->o->json);
	doc = document(l, about);
	bad = json_dumpf(doc, f, JSON_COMPACT) || fputc('\n', f) == EOF || fflush(f);
	json_decref(doc);
	if (bad)
		err_sys(e, EXIT_IO, "give it room and run again", "--json %s", l->o->json);
	if (!std && fclose(f) && !bad)
		bad = err_sys(e, EXIT_IO, "give it room and run again", "--json %s", l->o->json);
	return bad ? -1 : 0;
}

int live_report(struct live *l, json_t *about, struct err *e)
{
	const char *why = trace_why(l->t);
	int rc = 0;

	if (!l->o->quiet) {
		fprintf(stderr, "ipcstall: backend %s%s%s\n", trace_backend_name(trace_backend(l->t)), why && *why ? "; no better one here: " : "", why ? why : "");
		ledger_table(&l->end, &l->verdict, (size_t)l->o->shown, stderr);
		if (l->o->cost)
			cost_table(l, stderr);
	}
	if (l->o->json)
		rc = write_json(l, about, e);
	if (rc == 0 && l->verdict.unaccounted_ns)
		rc = err_set(e, EXIT_BUG, "ledger: %lld ns unaccounted for: a fault of ipcstall; please report it with --json",
			     (long long)l->verdict.unaccounted_ns);
	return rc;
}

void live_free(struct live *l)
{
	trace_snapshot_free(&l->end);
	if (l->t)
		trace_finish(l->t);
	l->t = NULL;
}
