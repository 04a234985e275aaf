// SPDX-License-Identifier: GPL-2.0-only
/* The schema of `run`, `attach` and `replay`. docs/SCHEMA.md says what the fields mean. */
#include "verdict/blame.h"
#include "render/ledger_text.h"
#include "tracer/figure.h"
#include "render/schema_rows.h"

/* Fields that a smaller view (docs/BCC.md) cannot know are null there. In ipcstall's own documents
 * only those are null that its backend cannot know. */
#define HEAD \
	"tool:tool machine:object written:text trace:trace ~invocation:text[] ~command:text[] " \
	"~pid:count ~exit_code:count ~attached_to:attached_to ~recorded:recorded " \
	"~replayed:replayed ~proofs:proof[] ~answer:?count"
/* a ledger's keys, without the endpoints and the findings (see ledger_kind_key()) */
#define SUMMARY \
	"stall_ns:?count unaccounted_ns:?count verdict:text ~outcome:outcome " \
	"~card:?card ~doing:?asleep ~listeners:listener[] ~listeners_left_out:count " \
	"observed:count lost:count unpaired:count overflow:count missed:?count " \
	"blind:?count contended:?count dropped:count events_lost:count reused:count " \
	"opened:count closed:count dropped_tx_bytes:?count dropped_rx_bytes:?count " \
	"existed_before:?count asleep_before:?count unlisted_processes:?count " \
	"stacks_lost:?count ~let_go:count ~sampling:?sampling"
#define ENDPOINT \
	"serial:count proto:proto local:?text remote:?text peer:index peer_serial:?count " \
	"netns:count inode:?count born_ns:count closed:bool joined_late:bool ~let_go:bool " \
	"pid:?count comm:?text cgroup_id:?count cgroup:?text ~unseen:unseen tx:tx rx:rx " \
	"beside:beside blame:?blame[] ~looks:?looks"
#define STALL \
	"serial:count from_ns:count to_ns:count ns:count goes_on:bool state:tx_state " \
	"blamed:blamed pid:?count comm:?text peer_serial:?count peer_pid:?count peer_comm:?text " \
	"peer_unread_ns:?count ~peer_no_cpu_ns:?count held:?held peer_ack:?peer_ack " \
	"released_by:?released_by user_stack:?text[] kernel_stack:?text[] " \
	"peer_user_stack:?text[] peer_kernel_stack:?text[]"

#define CALLS "~stopped:bool pid:?count comm:?text others:?bool ~left:?left"
#define SIDE "lifetime_ns:count unaccounted_ns:?count "

static const struct schema_def objects[] = {
	{ "tool",
	  "version:text git:?text ~compiler:text ~flags:text ~sanitizers:text "
	  "flavour:text" },
	{ "trace", "backend:text ~object:text why:?text hooks:hook[] not_covered:text[]" },
	{ "hook",
	  "point:text kind:text feeds:text attached:bool why_not:?text program:text "
	  "runs:?count" },
	{ "attached_to", "pids:count[] comm:?text cgroup:?text all:bool" },
	{ "recorded", "timeline:bool threshold_ns:count stacks:bool interval_ns:count" },
	{ "replayed",
	  "file:text complete:bool cut:bool lacks:text[] unknown_sections:count "
	  "damaged_blocks:count snapshots:count dropped:dropped" },
	{ "proof", "t:count ns:count ledger:judgement ~asleep:?asleep ~cpu:?process_cpu" },
	{ "asleep", "pid:count tid:count ~one_of_many:bool looks:count ~rests:count " \
			    "running:count ~disk:count calls:asleep_call[] " \
			    "~sleeps_for:asleep_next[] ~end:?text ~end_at:?text ~end_path:?text" },
	{ "asleep_next", "pid:count comm:text" },
	{ "process_cpu", "pid:count ns:count busiest_tid:count busiest_ns:count " \
			 "no_cpu_ns:count quota_ns:count stopped:bool" },
	{ "asleep_call", "call:text found:count" },
	{ "dropped", "snapshots:count events:count stalls:count closed:count" },
	{ "finding",
	  "endpoint:count cause:tx_state ns:count count:?count max_ns:?count "
	  "share:number blamed:blamed surety:surety blamed_ns:?count blamed_count:?count "
	  "text:text fix:text root:?count ~root_by_amounts:bool ~circle:count ~ring:?count "
	  "~ring_for:?text ~pid:?count ~comm:?text ~blamed_pid:?count ~blamed_comm:?text "
	  "~unanswered_syn:bool ~limit:?text ~late_not_lost:bool ~connections:count "
	  "~all_ns:count ~all_count:?count ~all_max_ns:?count ~all_share:number "
	  "~all_blamed_ns:count ~all_blamed_count:?count ~all_causes:tx_state[]" },
	{ "spell", "endpoint:count ns:count count:count max_ns:count share:number" },
	{ "late",
	  "endpoint:count ns:count count:count max_ns:count share:number ~connections:count "
	  "~all_ns:count" },
	{ "wait",
	  "endpoint:count ns:count count:count max_ns:count share:number ~mutual:?count "
	  "~connections:count ~all_ns:count ~all_share:number ~surety:?surety "
	  "~requests:?requests ~circle:count ~queued_ns:count "
	  "~brought_by:?count" },
	{ "connects",
	  "endpoint:count ns:count count:count max_ns:count share:number ~refused:bool "
	  "~reset:bool" },
	{ "answers",
	  "endpoint:count connections:count ns:count share:number goes_on:bool "
	  "requests:?requests" },
	{ "withheld",
	  "endpoint:count ns:count count:count share:number surety:surety text:text "
	  "fix:text" },
	{ "loss", "endpoint:count kind:loss_kind count:count share:?number text:text fix:text" },
	{ "scattered", "ns:count share:number cause:?tx_state cause_ns:count ~endpoint:index "
	  "~process_ns:count" },
	{ "card",
	  "~kind:text ~cause:?tx_state ~ns:?count ~of_ns:?count ~count:?count "
	  "~max_ns:?count share:?number who:text for_whom:text head:text where:text "
	  "why:text surety:?surety fix:text fix_state:?text next:text also:text[]" },
	{ "requests", "count:count ~slow:count think_ns:count ~think_max_ns:count way_ns:count "
		      "unread_ns:?count ~unread_max_ns:?count ~pieces:count "
		      "unanswered:count ~given_up:count bounded:bool ~uneven:bool" },
	{ "endpoint", ENDPOINT },
	{ "unseen", "tx:?text rx:?text" },
	{ "listener",
	  "local:?text netns:count inode:?count closed:bool lifetime_ns:count "
	  "backlog:count queue:count peak:count dropped:count established:?count "
	  "accepted:?count accept_wait_ns:?count accept_wait_max_ns:?count pid:?count "
	  "comm:?text" },
	{ "state",
	  "ns:?count count:?count max_ns:?count "
	  "resolution:=unknown|bounded|exact|sampled log2_hist:?count[]" },
	{ "beside", "tx:calls rx:calls tcp:?tcp drops:drops queue:?queue" },
	{ "left", "since_ns:count ended:bool holder_pid:?count holder_comm:?text" },
	{ "drops", "rcvbuf:?count qdisc:?count checksum:?count other:?count" },
	{ "queue", "mean_residence_ns:?count max:count dequeued:count" },
	{ "blame",
	  "ledger:text state:tx_state by:blamed ns:count count:?count pid:?count "
	  "comm:?text" },
	{ "stall", STALL },
	{ "held",
	  "queued_bytes:count unacked_bytes:count small_unacked_bytes:count mss:count "
	  "cwnd:count in_flight:count window_bytes:count nodelay:bool cork:bool" },
	{ "peer_ack",
	  "owed_since_ns:?count timer_fired_ns:?count ~rode_ns:?count "
	  "withheld_ns:?count" },
	{ "released_by", "at_ns:count acked_bytes:count payload_bytes:count" },
	{ "looks", "n:count tx:tx_found rx:rx_found facts:?facts chronographs:?chronographs" },
	{ "found", "found:count share_low:?number share_high:?number" },
	{ "facts", "ack_owed:found backlog:found hole:found disorder:found loss:found "
		   "~unanswered:found ~undelivered:found ~owes_answer:found ~unprompted:found "
		   "~unattended:found ~in_flight:found" },
	{ "chronographs", "busy_ns:count rwnd_limited_ns:count sndbuf_limited_ns:count" },
	{ "sampling",
	  "budget:number looks:count endpoint_looks:count rate_hz:number part:number "
	  "look_cpu_ns:count find_cpu_ns:count ns:count" },
	{ "tx", SIDE "now:?tx_state states:tx_states" },
	{ "rx", SIDE "now:?rx_state states:rx_states" },
	{}
};

/* the fields in `others`, and the figures of tracer/figure_rows.h that have a key */
static json_t *with_figures(const char *others, const struct figures *s)
{
	json_t *o = schema_object(others);

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].key)
			schema_add_key(o, s->v[i].key,
				       s->v[i].kind == FIGURE_FLAG ? "?bool" : "?count");
	return o;
}

/* the fields in `others`, and a key for each kind of finding that has one */
static json_t *with_kinds(const char *others)
{
	json_t *o = schema_object(others);
	const char *type;

	for (enum finding_kind k = 0; k < KINDS_N; k++) {
		const char *key = ledger_kind_key(k, &type);

		if (key)
			schema_add_key(o, key, type);
	}
	return o;
}

/* {name: state} for each: what a ledger's "states" is */
static json_t *states_of(const char *const *names, size_t n)
{
	json_t *o = schema_object("");

	for (size_t i = n; i-- > 0;)
		schema_add_key(o, names[i], "state");
	return o;
}

/* {name: X}; a state that no sample found is left out */
static json_t *by_state(const char *names, const char *what)
{
	return json_pack("{s:s, s:{s:s}, s:{s:s}}", "type", "object", "propertyNames", "$ref",
			 names, "additionalProperties", "$ref", what);
}

static json_t *proto_names(void)
{
	const char *names[TRACE_PROTOS];

	for (unsigned int i = 1; i < TRACE_PROTOS; i++)
		names[i] = trace_proto_name(i);
	return schema_enum(names + 1, TRACE_PROTOS - 1);
}

/* the kinds of drop, and LOST_ON_PATH */
static json_t *loss_names(void)
{
	const char *names[TRACE_DROPS + 1];

	for (unsigned int i = 0; i < TRACE_DROPS; i++)
		names[i] = drop_name((enum trace_drop)i);
	names[TRACE_DROPS] = LOST_ON_PATH;
	return schema_enum(names, TRACE_DROPS + 1);
}

static void set_names(json_t *defs)
{
	json_object_set_new(defs, "tx_state", schema_enum(trace_tx_names, TX_N));
	json_object_set_new(defs, "rx_state", schema_enum(trace_rx_names, RX_N));
	json_object_set_new(defs, "blamed", schema_enum(blame_names, BLAME_N));
	json_object_set_new(defs, "surety", schema_enum(surety_names, SURETY_N));
	json_object_set_new(defs, "proto", proto_names());
	json_object_set_new(defs, "loss_kind", loss_names());
	json_object_set_new(defs, "outcome", schema_enum(outcome_names, OUTCOMES_N));
}

/* a line of the stream; `more` has its "type" */
static json_t *line(json_t *object, const char *more)
{
	schema_add(object, more);
	return object;
}

static json_t *lines(void)
{
	json_t *first = schema_object(HEAD), *of_endpoint = schema_object(ENDPOINT);

	schema_set_kind(first, "ipcstall.stream");
	schema_drop(of_endpoint, "peer"); /* an index, and a line has no list */
	return json_pack("{s:[o, o, o, o, o]}", "oneOf", first,
			 line(of_endpoint, "t:count type:=endpoint"),
			 line(with_kinds(SUMMARY), "t:count endpoints:count type:=interval"),
			 schema_object(STALL " type:=stall"),
			 schema_object("complete:bool type:=end"));
}

json_t *ledger_schema(void)
{
	json_t *top = schema_object(HEAD " ledger:ledger stalls:?stall[] stalls_dropped:?count"),
	       *defs = schema_objects(objects);

	schema_set_kind(top, "ipcstall.trace");
	json_object_set_new(defs, "calls", with_figures(CALLS, &figures_of_calls));
	json_object_set_new(defs, "tcp",
			    with_figures("~congestion_control:?text", &figures_of_endpoint));
	json_object_set_new(defs, "ledger", with_kinds("endpoints:endpoint[] " SUMMARY));
	json_object_set_new(defs, "judgement", with_kinds(SUMMARY));
	json_object_set_new(defs, "line", lines());
	json_object_set_new(defs, "tx_found", by_state("#/$defs/tx_state", "#/$defs/found"));
	json_object_set_new(defs, "rx_found", by_state("#/$defs/rx_state", "#/$defs/found"));
	json_object_set_new(defs, "tx_states", states_of(trace_tx_names, TX_N));
	json_object_set_new(defs, "rx_states", states_of(trace_rx_names, RX_N));
	set_names(defs);
	return schema_document("urn:ipcstall:trace:1", "ipcstall trace, version 1", top, defs);
}

static const struct schema_def of_top[] = {
	{ "row",
	  "serial:count proto:proto local:text remote:?text ns:count closed:bool "
	  "stall_ns:count stall_share:number rtt_us:?count tx:sends rx:receives cgroup:?text "
	  "netns:?count cause:?tx_state blamed:blamed blamed_program:?text blamed_pid:?count "
	  "surety:?surety ~drops:?count" },
	{ "counters",
	  "observed:count lost:count unpaired:count overflow:count missed:count blind:count "
	  "~dropped:count" },
	{ "sends", "program:?text pid:?count bytes:?count messages:?count ns:tx_ns" },
	{ "receives", "program:?text pid:?count bytes:?count messages:?count ns:rx_ns" },
	{}
};

json_t *top_schema(void)
{
	json_t *top = schema_object("at_ns:count interval_ns:count n_endpoints:count "
				    "n_active:count stall_ns:count endpoints:row[] "
				    "counters:counters"),
	       *defs = schema_objects(of_top);

	schema_set_kind(top, "ipcstall.top");
	json_object_set_new(defs, "tx_ns", by_state("#/$defs/tx_state", "#/$defs/count"));
	json_object_set_new(defs, "rx_ns", by_state("#/$defs/rx_state", "#/$defs/count"));
	set_names(defs);
	return schema_document("urn:ipcstall:top:1", "ipcstall top, version 1: one line", top,
			       defs);
}
