// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall replay: a recording, through the same filters and into the same outputs as a live
 * session. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json/json_text.h"
#include "commands/command.h"
#include "session/session.h"
#include "base/clock.h"
#include "base/text.h"
#include "recording/codec.h"
#include "recording/recording.h"
#include "render/schema_rows.h"
#include "render/sink.h"

static const struct opt replay_options[] = {
	OPT_HEAD("What to show (an endpoint must match all of these; its other end is shown too)"),
	{ OPT_MULTI, 'p', "pid", "PID", "endpoints of this process (several: repeat)",
		SESSION_OPT(pids) },
	{ OPT_STRING, 0, "comm", "NAME", "endpoints of processes with this name",
		SESSION_OPT(comm) },
	{ OPT_STRING, 'c', "cgroup", "PATH", "endpoints of this cgroup and those below it, written "
		"as in the JSON (/system.slice/x.service)", SESSION_OPT(cgroup) },
	{ OPT_MULTI, 0, "proto", "NAME", "only this kind: tcp, udp, pipe, unix (may be given "
		"several times)", SESSION_OPT(protos), 0, 0, session_proto_words },
	{ OPT_MULTI, 'P', "port", "N", "only sockets with this port at either end; A-B for a range",
		SESSION_OPT(ports) },
	{ OPT_INT, 0, "timeline-max", "N", "keep the newest N steps and marks of the timeline; "
		"older ones are counted as lost", SESSION_OPT(timeline_max),
	  1, 1e9 },
	LEDGER_OUTPUT_OPTIONS("interval of the running report (default: as recorded)"),
	OPT_END,
};

struct show {
	const struct session_opts *o;
	struct trace_options filter;
	struct replay r;
	struct ledger_stream stream;
	bool no_memory;
	uint64_t next_ns; /* when the running report is due; 0: not begun */
};

static void defaults(void *opts)
{
	struct session_opts *o = opts;

	session_defaults(o);
	o->interval_ns = 0; /* each snapshot */
}

static bool pid_wanted(const struct session_opts *o, const struct trace_endpoint *ep)
{
	for (size_t i = 0; i < o->pids.n; i++) {
		long pid = atol(o->pids.v[i]);

		if (pid == ep->tx_calls.tgid || pid == ep->rx_calls.tgid)
			return true;
	}
	return !o->pids.n;
}

/* `name`: as a recording shows it, or as the program called itself */
static bool comm_is(const struct trace_call_stats *b, const char *name)
{
	char shown[16];

	snprintf(shown, sizeof(shown), "%s", name);
	text_clean(shown, sizeof(shown));
	return b->tgid && !strcmp(b->comm, shown);
}

static bool comm_wanted(const struct session_opts *o, const struct trace_endpoint *ep)
{
	return !o->comm || comm_is(&ep->tx_calls, o->comm) || comm_is(&ep->rx_calls, o->comm);
}

static bool below_cgroup(const struct trace_call_stats *b, const char *want)
{
	size_t n = strlen(want);
	char path[512];

	while (n > 1 && want[n - 1] == '/')
		n--;
	if (!trace_cgroup_path(b->cgroup_id, path, sizeof(path)))
		return false;
	return n == 1 ? want[0] == '/' : !strncmp(path, want, n) && (path[n] == '/' || !path[n]);
}

static bool cgroup_wanted(const struct session_opts *o, const struct trace_endpoint *ep)
{
	return !o->cgroup || below_cgroup(&ep->tx_calls, o->cgroup) ||
	       below_cgroup(&ep->rx_calls, o->cgroup);
}

static bool port_wanted(const struct trace_options *t, const struct trace_endpoint *ep)
{
	if (!t->port_hi)
		return true;
	return (ep->local.port >= t->port_lo && ep->local.port <= t->port_hi) ||
	       (ep->remote.port >= t->port_lo && ep->remote.port <= t->port_hi);
}

static bool wanted(void *ctx, const struct trace_endpoint *ep)
{
	const struct show *s = ctx;

	return (!s->filter.protos || s->filter.protos >> ep->proto & 1) &&
	       port_wanted(&s->filter, ep) && pid_wanted(s->o, ep) && comm_wanted(s->o, ep) &&
	       cgroup_wanted(s->o, ep);
}

static int check_pids(const struct session_opts *o, struct err *e)
{
	for (size_t i = 0; i < o->pids.n; i++) {
		long pid;

		if (parse_pid(o->pids.v[i], &pid))
			return err_usage(e,
					 "--pid '%s': not a process id; the JSON and the table "
					 "show those of the recording",
					 o->pids.v[i]);
	}
	return 0;
}

static bool any_filter(const struct session_opts *o)
{
	return o->pids.n || o->comm || o->cgroup || o->protos.n || o->ports.n;
}

static bool recorded(const json_t *head, const char *what)
{
	const json_t *v = json_object_get(json_object_get(head, "recorded"), what);

	return json_is_true(v) || json_integer_value(v) > 0;
}

/* what is not in the file is refused, not shown as empty */
static int check_content(const struct show *s, const char *path, struct err *e)
{
	const json_t *head = s->r.state.head;

	if ((s->o->out[OUT_TIMELINE] || s->o->out[OUT_PERFETTO]) && !recorded(head, "timeline"))
		return err_data(e, "%s: holds no timeline; record it with --timeline", path);
	if (s->o->out[OUT_FOLDED] && !recorded(head, "threshold_ns"))
		return err_data(
			e, "%s: holds no single stalls; record it with --threshold and --stacks",
			path);
	return 0;
}

/* figures that the build which recorded did not know */
static json_t *lacks(const struct recording_state *st)
{
	json_t *list = json_array();

	for (size_t i = 0; codec_endpoint_section(i); i++)
		if (st->lacks >> i & 1)
			json_array_append_new(list, json_string(codec_endpoint_section(i)));
	return list;
}

static json_t *about(const struct recording_state *st, const char *path)
{
	const struct dropped *d = &st->dropped;

	return json_pack("{s:o, s:b, s:b, s:o, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}}", "file",
			 text_json(path), "complete", st->complete, "cut", st->cut, "lacks",
			 lacks(st), "unknown_sections", (json_int_t)st->unknown_sections,
			 "damaged_blocks", (json_int_t)st->damaged, "snapshots",
			 (json_int_t)st->snapshots, "dropped", "snapshots",
			 (json_int_t)d->snapshots, "events", (json_int_t)d->events, "stalls",
			 (json_int_t)d->stalls, "closed", (json_int_t)d->closed);
}

/* The session began an interval before its first snapshot. The last one is always due. */
static bool is_due(struct show *s, uint64_t at_ns)
{
	uint64_t interval = (uint64_t)s->o->interval_ns;
	json_int_t recorded_every;

	if (!interval)
		return true;
	recorded_every = json_integer_value(
		json_object_get(json_object_get(s->r.state.head, "recorded"), "interval_ns"));
	if (!s->next_ns)
		s->next_ns = at_ns - (uint64_t)recorded_every + interval;
	if (at_ns < s->next_ns)
		return at_ns == s->r.end.at_ns;
	s->next_ns = next_due(s->next_ns, interval, at_ns);
	return true;
}

static void stream_one(void *ctx, const struct trace_snapshot *snapshot)
{
	struct show *s = ctx;
	struct trace_snapshot kept;
	struct verdict v;

	if (!snapshot->at_ns)
		return;
	if (replay_so_far(&s->r, snapshot, &kept)) {
		s->no_memory = true;
		return;
	}
	if (is_due(s, snapshot->at_ns)) {
		verdict_make(&kept, &v);
		ledger_stream_snapshot(&s->stream, &kept, &v);
	}
	trace_snapshot_free(&kept);
}

static void stream_stall_of(void *ctx, const struct stall *st)
{
	struct show *s = ctx;

	if (replay_wants(&s->r, st->s.serial))
		ledger_stream_stall(&s->stream, st);
}

/* the running report, as it would have come */
static int stream_all(struct show *s, const struct recording *file, json_t *head, struct err *e)
{
	struct recording_visitor v = { .ctx = s, .on_snapshot = stream_one,
		.on_stall = stream_stall_of, .texts = &s->r.stalls };
	struct recording_state st = {};
	int rc;

	if (!s->o->ndjson)
		return 0;
	if (ledger_stream_open(&s->stream, s->o->ndjson, head, e))
		return -1;
	rc = recording_walk(file, &v, &st, e);
	json_decref(st.head);
	if (ledger_stream_close(&s->stream, st.complete, e) || rc)
		return -1;
	return s->no_memory
		       ? err_resource(e, "%s: out of memory during replay; free some", file->path)
		       : 0;
}

static int write_files(struct show *s, const struct recording *file, const struct verdict *v,
		       struct err *e)
{
	struct ledger_view view = {
		.s = &s->r.end, .v = v, .stalls = &s->r.stalls, .timeline = &s->r.timeline,
			.wants_stalls = recorded(s->r.state.head, "threshold_ns"),
		.wants_timeline = recorded(s->r.state.head, "timeline"),
			.head = json_copy(s->r.state.head),
	};
	int rc;

	json_object_set_new(view.head, "replayed", about(&s->r.state, file->path));
	rc = stream_all(s, file, view.head, e);
	for (enum ledger_output i = 0; i < LEDGER_OUTPUTS_N; i++)
		if (s->o->out[i] && ledger_write(i, &view, s->o->out[i], e))
			rc = -1;
	if (s->o->html && session_html(&view, s->o->html, e))
		rc = -1;
	json_decref(view.head);
	return rc;
}

/* JSON may hold any character, and the file be anyone's */
static void head_text(const json_t *o, const char *key, const char *otherwise, char *buf,
		      size_t size)
{
	const char *text = json_string_value(json_object_get(o, key));

	snprintf(buf, size, "%s", text ? text : otherwise);
	text_clean(buf, size);
}

/* what a reader must know before the figures */
static void say_other_build(const struct recording_state *st, const char *path)
{
	const char *before = "recorded by another build, without some figures of";

	for (size_t i = 0; codec_endpoint_section(i); i++) {
		if (!(st->lacks >> i & 1))
			continue;
		if (*before == 'r')
			fprintf(stderr, "ipcstall: %s: ", path);
		fprintf(stderr, "%s %s", before, codec_endpoint_section(i));
		before = ",";
	}
	if (st->lacks)
		fputs("; these are unknown\n", stderr);
	if (st->unknown_sections)
		fprintf(stderr,
			"ipcstall: %s: recorded by a newer build; figures unknown to this one are "
			"left out\n",
			path);
}

static void remarks(const struct recording_state *st, const char *path)
{
	char host[128], written[64];

	head_text(json_object_get(st->head, "machine"), "hostname", "an unnamed host", host,
		  sizeof(host));
	head_text(st->head, "written", "at an unknown time", written, sizeof(written));
	fprintf(stderr, "ipcstall: %s: recorded on %s, %s, %zu snapshot%s\n", path, host, written,
		st->snapshots, plural(st->snapshots));
	if (st->cut)
		fprintf(stderr,
			"ipcstall: %s: is cut off at byte %zu; its figures are those of the last "
			"whole snapshot\n",
			path, st->cut_at);
	else if (!st->complete)
		fprintf(stderr,
			"ipcstall: %s: the session did not end cleanly; its figures are those of "
			"the last whole snapshot\n",
			path);
	say_other_build(st, path);
	if (st->unknown)
		fprintf(stderr, "ipcstall: %s: %zu block%s of a newer kind left out\n", path,
			st->unknown, plural(st->unknown));
}

static bool uses_stdout(const struct session_opts *o)
{
	for (int i = 0; i < LEDGER_OUTPUTS_N; i++)
		if (sink_is_stdout(o->out[i]))
			return true;
	return sink_is_stdout(o->ndjson) || sink_is_stdout(o->html);
}

static int show(struct show *s, const struct recording *file, struct err *e)
{
	struct verdict v;
	int rc;

	if (replay_load(file, any_filter(s->o) ? wanted : NULL, s, (size_t)s->o->timeline_max,
			&s->r, e) ||
	    check_content(s, file->path, e))
		return -1;
	verdict_make(&s->r.end, &v);
	remarks(&s->r.state, file->path);
	if (s->r.stalls.dropped)
		fprintf(stderr,
			"ipcstall: %s: %" PRIu64 " stalls older than the newest %d left out; "
						 "filter (-p, -P, --comm) to see them\n",
			file->path, s->r.stalls.dropped, STALLS_KEPT);
	if (!s->o->quiet && !uses_stdout(s->o)) {
		session_screen(s->o, &s->r.end, &v, stdout);
		if (fflush(stdout))
			err_sys(e, EXIT_IO, "free some space or start its reader",
		"standard output");
	}
	rc = write_files(s, file, &v, e);
	if (rc == 0 && !err_is_set(e) && s->r.state.damaged)
		err_data(e,
			 "%s: %zu damaged block%s left out: what is shown is right but incomplete; "
			 "take another copy of it",
			 file->path, s->r.state.damaged, plural(s->r.state.damaged));
	return err_is_set(e) ? -1 : rc;
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	struct show s = { .o = opts };
	struct recording file;
	int rc;

	if (s.o->json_schema)
		return schema_print(ledger_schema(), e);
	if (rest->n != 1)
		return err_usage(e, "replay: give one FILE, written by ipcstall record");
	if (sink_is_stdout(rest->v[0]))
		return err_usage(e, "replay: -: a recording is read twice, which standard input "
				    "does not allow; save it to a file, and give that");
	if (session_seen(s.o, &s.filter, e) || check_pids(s.o, e) ||
	    session_check_outputs(s.o, rest->v[0], e) || recording_open(&file, rest->v[0], e))
		return -1;
	trace_cgroup_offline();
	rc = show(&s, &file, e);
	replay_free(&s.r);
	recording_close(&file);
	return rc ? (int)e->code : EXIT_DONE;
}

const struct command command_replay = {
	.name = "replay",
	.summary = "Show a recording again, through any filter, into any output",
	.operands = "FILE",
	.description = "The table goes to standard output, unless you send another output there. A "
		"recording that is cut off is shown up to its last whole block. Damaged blocks "
		"are left out, and the exit code is then 9.",
	.examples = "ipcstall replay web.rec\tthe table and the verdict\n"
		    "ipcstall replay web.rec --comm nginx --timeline t.ndjson -q\tfor ipcstall "
		    	"figure timeline t.ndjson\n"
		    "ipcstall replay web.rec -P 443 --json -\tas JSON\n",
	.options = replay_options,
	.options_size = sizeof(struct session_opts),
	.defaults = defaults,
	.takes_operands = true,
	.run = run,
};
