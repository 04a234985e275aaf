// SPDX-License-Identifier: GPL-2.0-only
/* The shape of what `run`, `attach` and `replay` write. docs/SCHEMA.md says what the fields mean.
 */
#include "verdict/blame.h"
#include "render/ledger_text.h"
#include "tracer/figure.h"
#include "render/schema_rows.h"

/* What a smaller view (docs/BCC.md) cannot know is null there; where ipcstall itself writes a
 * document, only what its backend cannot. */
static const struct schema_row head[] = {
	{ "tool", "tool" }, { "machine", "object" }, { "written", "text" }, { "trace", "trace" },
	{ "~invocation", "text[]" }, { "~command", "text[]" }, { "~pid", "count" },
	{ "~exit_code", "count" }, { "~attached_to", "attached_to" },
	{ "~recorded", "recorded" }, { "~replayed", "replayed" }, { "~proofs", "proof[]" }, {}
};
static const struct schema_row proof[] = {
	{ "t", "count" }, { "ns", "count" }, { "ledger", "judgement" }, {}
};
static const struct schema_row document[] = {
	{ "ledger", "ledger" }, { "stalls", "?stall[]" }, { "stalls_dropped", "?count" }, {}
};
static const struct schema_row tool[] = {
	{ "version", "text" }, { "git", "?text" }, { "~compiler", "text" }, { "~flags", "text" },
		{ "~sanitizers", "text" }, { "flavour", "text" }, {}
};
static const struct schema_row trace[] = {
	{ "backend", "text" }, { "~object", "text" }, { "why", "?text" }, { "hooks", "hook[]" },
		{ "not_covered", "text[]" }, {}
};
static const struct schema_row hook[] = {
	{ "point", "text" }, { "kind", "text" }, { "feeds", "text" }, { "attached", "bool" },
		{ "why_not", "?text" }, { "program", "text" },
	{ "runs", "?count" }, {}
};
static const struct schema_row attached_to[] = {
	{ "pids", "count[]" }, { "comm", "?text" }, { "cgroup", "?text" }, { "all", "bool" }, {}
};
static const struct schema_row recorded[] = {
	{ "timeline", "bool" }, { "threshold_ns", "count" }, { "stacks", "bool" }, { "interval_ns",
		"count" }, {}
};
static const struct schema_row replayed[] = {
	{ "file", "text" }, { "complete", "bool" }, { "cut", "bool" }, { "lacks", "text[]" },
		{ "unknown_sections", "count" },
	{ "damaged_blocks", "count" }, { "snapshots", "count" }, { "dropped", "dropped" }, {}
};
static const struct schema_row dropped[] = {
	{ "snapshots", "count" }, { "events", "count" }, { "stalls", "count" },
		{ "closed", "count" }, {}
};
/* a ledger without its endpoints and its findings: those are ledger_kind_shape()'s */
static const struct schema_row summary[] = {
	{ "stall_ns", "?count" }, { "unaccounted_ns", "?count" }, { "verdict", "text" },
		{ "~outcome", "outcome" }, { "~card", "?card" },
	{ "~listeners", "listener[]" }, { "~listeners_left_out", "count" },
	{ "observed", "count" }, { "lost", "count" }, { "unpaired", "count" },
		{ "overflow", "count" }, { "missed", "?count" }, { "blind", "?count" },
	{ "contended", "?count" }, { "dropped", "count" }, { "events_lost", "count" },
		{ "reused", "count" }, { "opened", "count" },
	{ "closed", "count" }, { "dropped_tx_bytes", "?count" }, { "dropped_rx_bytes", "?count" },
		{ "existed_before", "?count" },
	{ "asleep_before", "?count" }, { "unlisted_processes", "?count" }, { "stacks_lost",
		"?count" }, { "~let_go", "count" }, { "~sampling", "?sampling" }, {}
};
static const struct schema_row card[] = {
	{ "~kind", "text" }, { "~cause", "?tx_state" }, { "~ns", "?count" }, { "~of_ns", "?count" },
	{ "~count", "?count" }, { "~max_ns", "?count" },
	{ "share", "?number" }, { "who", "text" }, { "for_whom", "text" }, { "head", "text" },
		{ "where", "text" }, { "why", "text" }, { "surety", "?surety" },
	{ "fix", "text" }, { "fix_state", "?text" }, { "next", "text" }, { "also", "text[]" }, {}
};
static const struct schema_row endpoints[] = { { "endpoints", "endpoint[]" }, {} };
static const struct schema_row finding[] = {
	{ "endpoint", "count" }, { "cause", "tx_state" }, { "ns", "count" }, { "count", "?count" },
		{ "max_ns", "?count" }, { "share", "number" },
	{ "blamed", "blamed" }, { "surety", "surety" }, { "blamed_ns", "?count" }, { "blamed_count",
		"?count" }, { "text", "text" },
	{ "fix", "text" }, { "root", "?count" }, { "~root_by_amounts", "bool" },
		{ "~ring", "?count" }, { "~ring_for", "?text" }, { "~pid", "?count" },
		{ "~comm", "?text" },
	{ "~blamed_pid", "?count" }, { "~blamed_comm", "?text" }, { "~unanswered_syn", "bool" },
	{ "~limit", "?text" },
		{ "~late_not_lost", "bool" },
	{ "~connections", "count" }, { "~all_ns", "count" }, { "~all_count", "?count" },
		{ "~all_max_ns", "?count" }, { "~all_share", "number" },
	{ "~all_blamed_ns", "count" }, { "~all_blamed_count", "?count" }, {}
};
static const struct schema_row withheld[] = {
	{ "endpoint", "count" }, { "ns", "count" }, { "count", "count" }, { "share", "number" },
		{ "surety", "surety" }, { "text", "text" },
	{ "fix", "text" }, {}
};
static const struct schema_row spell[] = {
	{ "endpoint", "count" }, { "ns", "count" }, { "count", "count" }, { "max_ns", "count" },
		{ "share", "number" }, {}
};
static const struct schema_row wait_for_another[] = {
	{ "endpoint", "count" }, { "ns", "count" }, { "count", "count" }, { "max_ns", "count" },
		{ "share", "number" }, { "~mutual", "?count" },
	{ "~connections", "count" }, { "~all_ns", "count" }, { "~all_share", "number" },
		{ "~requests", "?requests" }, {}
};
static const struct schema_row requests[] = {
	{ "count", "count" }, { "think_ns", "count" }, { "way_ns", "count" }, { "unread_ns",
		"?count" }, { "bounded", "bool" }, {}
};
static const struct schema_row scattered[] = {
	{ "ns", "count" }, { "share", "number" }, { "cause", "?tx_state" }, { "cause_ns", "count" },
		{}
};
static const struct schema_row loss[] = {
	{ "endpoint", "count" }, { "kind", "drop" }, { "count", "count" }, { "share", "?number" },
		{ "text", "text" }, { "fix", "text" }, {}
};
static const struct schema_row endpoint[] = {
	{ "serial", "count" }, { "proto", "proto" }, { "local", "?text" }, { "remote", "?text" },
		{ "peer", "index" }, { "peer_serial", "?count" },
	{ "netns", "count" }, { "inode", "?count" }, { "born_ns", "count" }, { "closed", "bool" },
		{ "joined_late", "bool" }, { "~let_go", "bool" },
	{ "pid", "?count" }, { "comm", "?text" }, { "cgroup_id", "?count" }, { "cgroup", "?text" },
		{ "~unseen", "unseen" }, { "tx", "tx" }, { "rx", "rx" },
	{ "beside", "beside" }, { "blame", "?blame[]" }, { "~looks", "?looks" }, {}
};
static const struct schema_row listener[] = {
	{ "local", "?text" }, { "netns", "count" }, { "inode", "?count" }, { "closed", "bool" },
		{ "lifetime_ns", "count" }, { "backlog", "count" },
	{ "queue", "count" }, { "peak", "count" }, { "dropped", "count" }, { "established",
		"?count" }, { "accepted", "?count" },
	{ "accept_wait_ns", "?count" }, { "accept_wait_max_ns", "?count" }, { "pid", "?count" },
		{ "comm", "?text" }, {}
};
static const struct schema_row unseen[] = { { "tx", "?text" }, { "rx", "?text" }, {} };
static const struct schema_row side[] = { { "lifetime_ns", "count" }, { "unaccounted_ns",
	"?count" }, {} };
static const struct schema_row tx[] = { { "now", "?tx_state" }, { "states", "tx_states" }, {} };
static const struct schema_row rx[] = { { "now", "?rx_state" }, { "states", "rx_states" }, {} };
static const struct schema_row state[] = {
	{ "ns", "?count" }, { "count", "?count" }, { "max_ns", "?count" }, { "resolution",
		"resolution" }, { "log2_hist", "?count[]" }, {}
};
static const struct schema_row beside[] = {
	{ "tx", "calls" }, { "rx", "calls" }, { "tcp", "?tcp" }, { "drops", "drops" },
		{ "queue", "?queue" }, {}
};
static const struct schema_row calls[] = {
	{ "~stopped", "bool" }, { "pid", "?count" }, { "comm", "?text" }, { "others", "?bool" },
	{ "~left", "?left" }, {}
};
static const struct schema_row nothing_else[] = { {} };
static const struct schema_row left[] = { { "since_ns", "count" }, { "ended", "bool" },
	{ "holder_pid", "?count" }, { "holder_comm", "?text" }, {} };
static const struct schema_row drops[] = { { "rcvbuf", "?count" }, { "qdisc", "?count" },
	{ "checksum", "?count" }, { "other", "?count" }, {} };
static const struct schema_row queue[] = { { "mean_residence_ns", "?count" }, { "max", "count" },
	{ "dequeued", "count" }, {} };
static const struct schema_row blame[] = {
	{ "ledger", "text" }, { "state", "tx_state" }, { "by", "blamed" }, { "ns", "count" },
		{ "count", "?count" }, { "pid", "?count" },
	{ "comm", "?text" }, {}
};
static const struct schema_row stall[] = {
	{ "serial", "count" }, { "from_ns", "count" }, { "to_ns", "count" }, { "ns", "count" },
		{ "goes_on", "bool" }, { "state", "tx_state" },
	{ "blamed", "blamed" }, { "pid", "?count" }, { "comm", "?text" }, { "peer_serial",
		"?count" }, { "peer_pid", "?count" }, { "peer_comm", "?text" },
	{ "peer_unread_ns", "?count" }, { "~peer_no_cpu_ns", "?count" }, { "held", "?held" },
		{ "peer_ack", "?peer_ack" }, { "released_by", "?released_by" },
	{ "user_stack", "?text[]" }, { "kernel_stack", "?text[]" }, { "peer_user_stack",
		"?text[]" }, { "peer_kernel_stack", "?text[]" }, {}
};
static const struct schema_row held[] = {
	{ "queued_bytes", "count" }, { "unacked_bytes", "count" }, { "small_unacked_bytes",
		"count" }, { "mss", "count" }, { "cwnd", "count" },
	{ "in_flight", "count" }, { "window_bytes", "count" }, { "nodelay", "bool" },
		{ "cork", "bool" }, {}
};
static const struct schema_row peer_ack[] = { { "owed_since_ns", "?count" }, { "timer_fired_ns",
	"?count" }, { "~rode_ns", "?count" }, { "withheld_ns", "?count" }, {} };
static const struct schema_row released_by[] = { { "at_ns", "count" }, { "acked_bytes", "count" },
	{ "payload_bytes", "count" }, {} };

/* of a sampled session */
static const struct schema_row looks[] = {
	{ "n", "count" }, { "tx", "tx_found" }, { "rx", "rx_found" }, { "facts", "?facts" },
		{ "chronographs", "?chronographs" }, {}
};
static const struct schema_row found[] = { { "found", "count" }, { "share_low", "?number" },
	{ "share_high", "?number" }, {} };
static const struct schema_row facts[] = {
	{ "ack_owed", "found" }, { "backlog", "found" }, { "hole", "found" },
		{ "disorder", "found" }, { "loss", "found" }, {}
};
static const struct schema_row chronographs[] = { { "busy_ns", "count" }, { "rwnd_limited_ns",
	"count" }, { "sndbuf_limited_ns", "count" }, {} };
static const struct schema_row sampling[] = {
	{ "budget", "number" }, { "looks", "count" }, { "endpoint_looks", "count" },
		{ "rate_hz", "number" }, { "part", "number" },
	{ "look_cpu_ns", "count" }, { "find_cpu_ns", "count" }, { "ns", "count" }, {}
};

static const struct {
	const char *name;
	const struct schema_row *rows;
} objects[] = {
	{ "tool", tool }, { "trace", trace }, { "hook", hook }, { "attached_to", attached_to },
		{ "recorded", recorded }, { "replayed", replayed }, { "proof", proof },
	{ "dropped", dropped }, { "finding", finding }, { "spell", spell },
		{ "wait", wait_for_another }, { "withheld", withheld }, { "loss", loss },
	{ "scattered", scattered }, { "card", card }, { "requests", requests },
		{ "endpoint", endpoint }, { "unseen", unseen }, { "listener", listener },
		{ "state", state }, { "beside", beside }, { "left", left },
	{ "drops", drops }, { "queue", queue }, { "blame", blame },
		{ "stall", stall }, { "held", held },
	{ "peer_ack", peer_ack }, { "released_by", released_by }, { "looks", looks },
		{ "found", found }, { "facts", facts },
	{ "chronographs", chronographs }, { "sampling", sampling },
};

/* and the figures of tracer/figure_rows.h that have a key */
static json_t *with_figures(const struct schema_row *others, const struct figures *s)
{
	json_t *o = schema_object(others);

	for (size_t i = 0; i < s->n; i++) {
		const char *type = s->v[i].kind == FIGURE_FLAG ? "?bool" : "?count";

		if (s->v[i].key)
			schema_add(o, (const struct schema_row[]){ { s->v[i].key, type }, {} });
	}
	return o;
}

/* and a key for each kind of finding that has one */
static json_t *with_kinds(json_t *o)
{
	for (enum finding_kind k = 0; k < KINDS_N; k++) {
		const struct schema_row *shape = ledger_kind_shape(k);

		if (shape)
			schema_add(o, (const struct schema_row[]){ *shape, {} });
	}
	return o;
}

/* {name: state} for each: what a ledger's "states" is */
static json_t *states_of(const char *const *names, size_t n)
{
	json_t *o = schema_object((const struct schema_row[]){ {} });

	for (size_t i = n; i-- > 0;)
		schema_add(o, (const struct schema_row[]){ { names[i], "state" }, {} });
	return o;
}

static json_t *two(const struct schema_row *a, const struct schema_row *b)
{
	json_t *o = schema_object(a);

	schema_add(o, b);
	return o;
}

/* {name: X}; a state that no look found is left out */
static json_t *by_state(const char *names, const char *what)
{
	return json_pack("{s:s, s:{s:s}, s:{s:s}}", "type", "object", "propertyNames", "$ref",
			 names, "additionalProperties", "$ref", what);
}

static void set_states(json_t *defs)
{
	json_object_set_new(defs, "tx_found", by_state("#/$defs/tx_state", "#/$defs/found"));
	json_object_set_new(defs, "rx_found", by_state("#/$defs/rx_state", "#/$defs/found"));
	json_object_set_new(defs, "tx", two(side, tx));
	json_object_set_new(defs, "rx", two(side, rx));
	json_object_set_new(defs, "tx_states", states_of(trace_tx_names, TX_N));
	json_object_set_new(defs, "rx_states", states_of(trace_rx_names, RX_N));
}

static json_t *proto_names(void)
{
	const char *names[TRACE_PROTOS];

	for (unsigned int i = 1; i < TRACE_PROTOS; i++)
		names[i] = trace_proto_name(i);
	return schema_enum(names + 1, TRACE_PROTOS - 1);
}

static json_t *drop_names(void)
{
	const char *names[TRACE_DROPS];

	for (unsigned int i = 0; i < TRACE_DROPS; i++)
		names[i] = drop_name((enum trace_drop)i);
	return schema_enum(names, TRACE_DROPS);
}

static void set_names(json_t *defs)
{
	static const char *const resolutions[] = { "unknown", "bounded", "exact", "sampled" };

	json_object_set_new(defs, "tx_state", schema_enum(trace_tx_names, TX_N));
	json_object_set_new(defs, "rx_state", schema_enum(trace_rx_names, RX_N));
	json_object_set_new(defs, "resolution", schema_enum(resolutions, 4));
	json_object_set_new(defs, "blamed", schema_enum(blame_names, BLAME_N));
	json_object_set_new(defs, "surety", schema_enum(surety_names, SURETY_N));
	json_object_set_new(defs, "proto", proto_names());
	json_object_set_new(defs, "drop", drop_names());
	json_object_set_new(defs, "outcome", schema_enum(outcome_names, OUTCOMES_N));
}

static void set_kind(json_t *object, const char *schema)
{
	json_t *properties = json_object_get(object, "properties");

	schema_add(object,
		   (const struct schema_row[]){ { "schema", "text" }, { "version", "count" }, {} });
	json_object_set_new(properties, "schema", schema_const(json_string(schema)));
	json_object_set_new(properties, "version", schema_const(json_integer(1)));
}

/* a line of the stream that says by "type" what it is */
static json_t *line(json_t *object, const char *type, const struct schema_row *more)
{
	schema_add(object, more);
	schema_add(object, (const struct schema_row[]){ { "type", "text" }, {} });
	json_object_set_new(json_object_get(object, "properties"), "type",
			    schema_const(json_string(type)));
	return object;
}

static json_t *lines(void)
{
	json_t *first = schema_object(head), *of_endpoint = schema_object(endpoint);

	set_kind(first, "ipcstall.stream");
	schema_drop(of_endpoint, "peer"); /* an index into nothing that stands there */
	return json_pack(
		"{s:[o, o, o, o, o]}", "oneOf", first,
		line(of_endpoint, "endpoint", (const struct schema_row[]){ { "t", "count" }, {} }),
		line(with_kinds(schema_object(summary)), "interval",
		     (const struct schema_row[]){ { "t", "count" }, { "endpoints", "count" }, {} }),
		line(schema_object(stall), "stall", (const struct schema_row[]){ {} }),
		line(schema_object((const struct schema_row[]){ { "complete", "bool" }, {} }),
		     "end", (const struct schema_row[]){ {} }));
}

json_t *ledger_schema(void)
{
	json_t *top = two(head, document), *defs = json_object();

	set_kind(top, "ipcstall.trace");
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		json_object_set_new(defs, objects[i].name, schema_object(objects[i].rows));
	json_object_set_new(defs, "calls", with_figures(calls, &figures_of_calls));
	json_object_set_new(defs, "tcp", with_figures(nothing_else, &figures_of_endpoint));
	json_object_set_new(defs, "ledger", with_kinds(two(endpoints, summary)));
	json_object_set_new(defs, "judgement", with_kinds(schema_object(summary)));
	json_object_set_new(defs, "line", lines());
	set_states(defs);
	set_names(defs);
	return schema_document("urn:ipcstall:trace:1", "ipcstall trace, version 1", top, defs);
}

static const struct schema_row top_head[] = {
	{ "at_ns", "count" }, { "interval_ns", "count" }, { "n_endpoints", "count" },
		{ "n_active", "count" }, { "stall_ns", "count" },
	{ "endpoints", "row[]" }, { "counters", "counters" }, {}
};
static const struct schema_row counters[] = {
	{ "observed", "count" }, { "lost", "count" }, { "unpaired", "count" },
		{ "overflow", "count" }, { "missed", "count" }, { "blind", "count" },
	{ "~dropped", "count" }, {}
};
static const struct schema_row row[] = {
	{ "serial", "count" }, { "proto", "proto" }, { "local", "text" }, { "remote", "?text" },
		{ "ns", "count" }, { "closed", "bool" },
	{ "stall_ns", "count" }, { "stall_share", "number" }, { "rtt_us", "?count" },
		{ "tx", "sends" }, { "rx", "receives" },
	{ "cgroup", "?text" }, { "netns", "?count" }, { "cause", "?tx_state" },
		{ "blamed", "blamed" }, { "blamed_program", "?text" },
	{ "blamed_pid", "?count" }, { "surety", "?surety" }, { "~drops", "?count" }, {}
};
static const struct schema_row sends[] = {
	{ "program", "?text" }, { "pid", "?count" }, { "bytes", "?count" },
		{ "messages", "?count" }, { "ns", "tx_ns" }, {}
};
static const struct schema_row receives[] = {
	{ "program", "?text" }, { "pid", "?count" }, { "bytes", "?count" },
		{ "messages", "?count" }, { "ns", "rx_ns" }, {}
};

json_t *top_schema(void)
{
	json_t *top = schema_object(top_head), *defs = json_object();

	set_kind(top, "ipcstall.top");
	json_object_set_new(defs, "row", schema_object(row));
	json_object_set_new(defs, "counters", schema_object(counters));
	json_object_set_new(defs, "sends", schema_object(sends));
	json_object_set_new(defs, "receives", schema_object(receives));
	json_object_set_new(defs, "tx_ns", by_state("#/$defs/tx_state", "#/$defs/count"));
	json_object_set_new(defs, "rx_ns", by_state("#/$defs/rx_state", "#/$defs/count"));
	set_names(defs);
	return schema_document("urn:ipcstall:top:1", "ipcstall top, version 1: one line", top,
			       defs);
}
