// SPDX-License-Identifier: GPL-2.0-only
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "host/machine.h"
#include "base/signals.h"
#include "render/environment.h"
#include "render/ledger_text.h"
#include "render/sink.h"

const char *const session_backends[] = { "auto", "fentry", "kprobe", "rawtp", NULL };
const char *const session_proto_words[] = { "tcp", "udp", "pipe", "unix", NULL };

static volatile sig_atomic_t interrupted, interrupts, from_terminal;

static void note_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	interrupted = sig;
	from_terminal = info->si_code == SI_KERNEL;
	interrupts++;
}

void session_catch_signals(void)
{
	struct sigaction sa = { .sa_sigaction = note_signal, .sa_flags = SA_SIGINFO };

	signals_catch(SIGINT, &sa);
	signals_catch(SIGTERM, &sa);
	signals_catch(SIGHUP, &sa);
	signals_catch(SIGQUIT, &sa);
}

bool session_interrupted(void)
{
	return interrupted;
}

int session_interrupts(void)
{
	return interrupts;
}

bool session_from_terminal(void)
{
	return from_terminal;
}

void session_defaults(void *opts)
{
	struct session_opts *o = opts;

	o->max_endpoints = 4096;
	o->shown = 10;
	o->interval_ns = 1000000000;
	o->timeline_max = 1000000;
}

int session_error(struct err *e, const struct trace_error *te)
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

static int set_protos(const struct session_opts *o, struct trace_options *t, struct err *e)
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

static int set_ports(const struct session_opts *o, struct trace_options *t, struct err *e)
{
	long lo, hi;

	if (!o->ports.n)
		return 0;
	if (o->ports.n > 1)
		return err_set(e, EXIT_BAD_USAGE, "--port: given %zu times; give one port or one range A-B", o->ports.n);
	if (parse_ports(o->ports.v[0], &lo, &hi))
		return err_set(e, EXIT_BAD_USAGE, "--port '%s': not a port (1 to 65535) nor a range A-B; give one, as in -P 443 or -P 8000-8100", o->ports.v[0]);
	t->port_lo = (uint16_t)lo;
	t->port_hi = (uint16_t)hi;
	if (!t->protos)	/* nothing else has ports */
		t->protos = 1u << TRACE_TCP | 1u << TRACE_UDP;
	return 0;
}

/* What nobody gave a length for: short enough for a flame graph, long enough not to drown a busy server. */
#define DEFAULT_THRESHOLD_NS 10000

bool session_wants_timeline(const struct session_opts *o)
{
	return o->out[OUT_TIMELINE] || o->out[OUT_PERFETTO];
}

static bool wants_stacks(const struct session_opts *o)
{
	return o->stacks || o->out[OUT_FOLDED];
}

static bool wants_stalls(const struct session_opts *o)
{
	return o->threshold_ns || wants_stacks(o);
}

uint64_t session_threshold(const struct session_opts *o)
{
	return o->threshold_ns ? (uint64_t)o->threshold_ns : wants_stacks(o) ? DEFAULT_THRESHOLD_NS : 0;
}

static void print_frames(const char *title, const char *text)
{
	if (text)
		fprintf(stderr, "    %s\n", title);
	while (text && *text) {
		int n = (int)strcspn(text, "\n");

		fprintf(stderr, "        %.*s\n", n, text);
		text += n + (text[n] == '\n');
	}
}

static void print_stall(const struct stall *st)
{
	char line[512];

	stall_line(st, line, sizeof(line));
	flockfile(stderr);
	fprintf(stderr, "%s\n", line);
	print_frames("in the kernel", st->stack[STACK_KERNEL]);
	print_frames("in the program", st->stack[STACK_USER]);
	print_frames("the other end's reader meanwhile, in the kernel", st->stack[STACK_PEER_KERNEL]);
	print_frames("the other end's reader meanwhile, in the program", st->stack[STACK_PEER_USER]);
	funlockfile(stderr);
}

/* At once: a process that is gone by the end of the session has no names to give. */
static const char *stack_text(struct session *l, int id, pid_t tgid)
{
	char buf[8192];

	return id >= 0 && trace_stack(l->t, id, tgid, buf, sizeof(buf)) > 0 ? stalls_text(&l->stalls, buf) : NULL;
}

static void on_stall(void *ctx, const struct trace_stall *s)
{
	struct session *l = ctx;
	struct stall st = { .s = *s };

	if (wants_stacks(l->o)) {
		st.stack[STACK_USER] = stack_text(l, s->ustack, s->tgid);
		st.stack[STACK_KERNEL] = stack_text(l, s->kstack, s->tgid);
		st.stack[STACK_PEER_USER] = stack_text(l, s->peer_ustack, s->peer_tgid);
		st.stack[STACK_PEER_KERNEL] = stack_text(l, s->peer_kstack, s->peer_tgid);
	}
	if (l->rec) {
		recorder_stall(l->rec, &st);
		return;
	}
	stalls_add(&l->stalls, &st);
	if (l->o->threshold_ns && !l->o->quiet)
		print_stall(&st);
	if (__atomic_load_n(&l->streaming, __ATOMIC_ACQUIRE))
		ledger_stream_stall(&l->stream, &st);
}

static void on_transition(void *ctx, const struct trace_transition *tr)
{
	struct session *l = ctx;

	if (l->rec)
		recorder_transition(l->rec, tr);
	else
		timeline_add(&l->timeline, tr);
}

static void set_records(struct session *l, const struct session_opts *o, struct trace_options *t)
{
	t->stacks = wants_stacks(o);
	t->stall_threshold_ns = session_threshold(o);
	t->on_stall = on_stall;
	t->timeline = session_wants_timeline(o) || o->steps ? TRACE_TIMELINE_ALL : TRACE_TIMELINE_NONE;
	t->on_transition = on_transition;
	t->ctx = l;
	l->stalls.max = STALLS_KEPT;
	l->timeline.max = (size_t)o->timeline_max;
}

int session_check_outputs(const struct session_opts *o, const char *input, struct err *e)
{
	const char *paths[LEDGER_OUTPUTS_N + 2] = { o->ndjson, o->record };
	size_t n = sizeof(paths) / sizeof(paths[0]);

	for (int i = 0; i < LEDGER_OUTPUTS_N; i++)
		paths[2 + i] = o->out[i];
	return (input && outputs_spare(input, paths, n, e)) || outputs_check(paths, n, e) ? -1 : 0;
}

int session_seen(const struct session_opts *o, struct trace_options *t, struct err *e)
{
	return set_protos(o, t, e) || set_ports(o, t, e) ? -1 : 0;
}

int session_open(struct session *l, const struct session_opts *o, struct trace_options *filter, struct err *e)
{
	struct trace_error te = {};

	l->o = o;
	filter->backend = (enum trace_backend)o->backend;
	filter->max_endpoints = (unsigned int)o->max_endpoints;
	filter->max_closed = filter->max_endpoints; /* of those that are gone as many are kept, the most stalled ones */
	if (session_seen(o, filter, e))
		return -1;
	if (o->record && !(l->rec = recorder_new(o->record, (uint64_t)o->max_size)))
		return err_set(e, EXIT_NO_RESOURCE, "%s: no memory to record; free some and run again", o->record);
	l->t = trace_prepare(filter, &te);
	if (!l->t) {
		session_free(l);
		return session_error(e, &te);
	}
	if ((o->cost && trace_cost_enable(l->t, &te)) || trace_start(l->t, &te)) {
		session_free(l);
		return session_error(e, &te);
	}
	return 0;
}

int session_begin(struct session *l, const struct session_opts *o, struct trace_options *filter, struct err *e)
{
	*l = (struct session){ .o = o };
	set_records(l, o, filter);
	return session_check_outputs(o, NULL, e) ? -1 : session_open(l, o, filter, e);
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
	doc = json_pack("{s:o, s:o, s:s, s:o}", "tool", build_to_json(&build), "machine", machine_to_json(&m), "written", now, "trace",
			trace_to_json(l->t));
	json_object_update_missing(doc, about);
	return doc;
}

int session_announce(struct session *l, json_t *about, struct err *e)
{
	json_t *head;
	int rc;

	if (l->rec)
		return session_record_begin(l, about, e);
	if (!l->o->ndjson)
		return 0;
	head = session_head(l, about);
	rc = ledger_stream_open(&l->stream, l->o->ndjson, head, e);
	json_decref(head);
	l->next_ns = now_ns() + (uint64_t)l->o->interval_ns;
	__atomic_store_n(&l->streaming, rc == 0, __ATOMIC_RELEASE);
	return rc;
}

int session_snapshot(struct session *l, struct trace_snapshot *s, struct trace_error *te)
{
	int rc = trace_snapshot(l->t, s, te);

	if (rc == 0)
		s->counters.stacks_lost += stalls_texts_lost(&l->stalls);
	return rc;
}

int session_tick(struct session *l, struct err *e)
{
	uint64_t now = now_ns();
	struct trace_snapshot s;
	struct trace_error te;
	struct verdict v;

	if (l->rec)
		return session_record_tick(l, e);
	if (!l->streaming)
		return 0;
	if (!ledger_stream_works(&l->stream))
		return -1;	/* session_end() says why */
	if (now < l->next_ns)
		return 0;
	l->next_ns = next_due(l->next_ns, (uint64_t)l->o->interval_ns, now);
	if (session_snapshot(l, &s, &te))
		return session_error(e, &te);
	verdict_make(&s, &v);
	ledger_stream_snapshot(&l->stream, &s, &v);
	trace_snapshot_free(&s);
	return 0;
}

int session_end(struct session *l, struct err *e)
{
	struct trace_error te = {};

	if (l->rec)
		return session_record_end(l, e);
	if (session_snapshot(l, &l->end, &te) || trace_stop(l->t, &te))
		return session_error(e, &te);
	trace_tell_ongoing(l->t, l->end.at_ns);
	trace_name_fd_owners(&l->end);
	verdict_make(&l->end, &l->verdict);
	if (!l->streaming)
		return 0;
	ledger_stream_snapshot(&l->stream, &l->end, &l->verdict);
	l->streaming = false;
	return ledger_stream_close(&l->stream, true, e);
}

static void cost_table(struct session *l, FILE *out)
{
	struct trace_cost c[64];
	size_t n = trace_costs(l->t, c, 64);

	fprintf(out, "  cost of the tracing itself, as the kernel counted it:\n");
	for (size_t i = 0; i < n; i++)
		if (c[i].runs)
			fprintf(out, "    %-28s %10llu runs  %7.0f ns each\n", c[i].name, (unsigned long long)c[i].runs,
				(double)c[i].ns / (double)c[i].runs);
}

static int write_files(struct session *l, json_t *about, struct err *e)
{
	struct ledger_view view = {
		.s = &l->end, .v = &l->verdict, .stalls = &l->stalls, .timeline = &l->timeline,
		.wants_stalls = wants_stalls(l->o), .wants_timeline = session_wants_timeline(l->o),
	};
	int rc = 0;

	view.head = session_head(l, about);
	for (enum ledger_output i = 0; i < LEDGER_OUTPUTS_N; i++)
		if (l->o->out[i] && ledger_write(i, &view, l->o->out[i], e))
			rc = -1;
	json_decref(view.head);
	return rc;
}

/* also where no table is asked for: a file that lacks them does not look like it */
static void say_left_out(const struct session *l)
{
	if (l->stalls.dropped && (l->o->out[OUT_JSON] || l->o->out[OUT_FOLDED]))
		fprintf(stderr, "ipcstall: %" PRIu64 " stalls older than the newest %d left out; give a longer --threshold, or record the session\n",
			l->stalls.dropped, STALLS_KEPT);
}

void session_screen(const struct session_opts *o, const struct trace_snapshot *s, const struct verdict *v, FILE *out)
{
	struct paint p = paint_on(out, (enum colour_when)o->colour);

	verdict_screen(s, v, &(struct card_extent){ .shown = (size_t)o->shown, .ledger = o->ledger }, &p);
}

int session_report(struct session *l, json_t *about, struct err *e)
{
	int rc = 0;

	if (l->o->record)
		return 0;
	if (!l->o->quiet) {
		session_screen(l->o, &l->end, &l->verdict, stderr);
		if (l->o->cost)
			cost_table(l, stderr);
	}
	say_left_out(l);
	rc = write_files(l, about, e);
	if (rc == 0 && l->verdict.unaccounted_ns)
		rc = err_set(e, EXIT_BUG, "ledger: %lld ns unaccounted for: a fault of ipcstall; please report it with --json",
			     (long long)l->verdict.unaccounted_ns);
	return rc;
}

/* A stream that nobody reads any more ends alone: what was seen is whole, and the other outputs get it. */
int session_end_and_report(struct session *l, json_t *about, struct err *e)
{
	struct err later = {};
	int rc = session_end(l, e) || err_is_set(e) ? -1 : 0;

	if (rc && !l->end.ep)
		return -1;
	return session_report(l, about, rc ? &later : e) ? -1 : rc;
}

void session_free(struct session *l)
{
	trace_snapshot_free(&l->end);
	if (l->t)
		trace_finish(l->t);
	l->t = NULL;
	if (l->rec)
		recorder_close(l->rec, &(struct err){});
	l->rec = NULL;
	stalls_free(&l->stalls);
	timeline_free(&l->timeline);
}
