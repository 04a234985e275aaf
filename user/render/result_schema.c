// SPDX-License-Identifier: GPL-2.0-only
/* The schema of a result. docs/SCHEMA.md says what the fields mean. */
#include "render/schema_rows.h"
#include "render/sink.h"

#define SUMMARY \
	"unit:=ns n:count min:?real q1:?real median:?real q3:?real p90:?real p95:?real p99:?real " \
	"p999:?real max:?real mean:?real mad:?real uncertainty:?real outliers:outliers"

static const struct schema_def objects[] = {
	{ "tool", "version:text git:?text *" },
	{ "clock", "stamp:=tsc|monotonic ~hz:real ~relative_error:real *" },
	{ "outliers", "k:?real count:?count sensitivity:beyond[]" },
	{ "summary", SUMMARY },
	{ "latency", SUMMARY " there:?summary back:?summary syn:?summary synack:?summary" },
	{ "histogram", "unit:=ns relative_error:real buckets:bucket[]" },
	{ "rpc",
	  "payload:=string|int|double|struct transport:?=buffered|framed|unbuffered "
	  "library:?text plain_mode:text connect_ns:?count first_call_ns:?count "
	  "marshal_ns:?count unmarshal_ns:?count marshalled_bytes:?count plain_ns:?real "
	  "plain_bytes_per_s:?real overhead:?real" },
	{ "reliable",
	  "packets:count transmissions:count retransmits:count stale_acks:count arrivals:count "
	  "dropped:count duplicates:count early:count aliens:count over_rto:count "
	  "over_second:count loss:?real" },
	{ "knobs", "cc:?text sndbuf:?integer rcvbuf:?integer pipe_size:?integer ~score:?real" },
	{ "tuned", "unit:=bytes_per_s|ns chosen:knobs tried:knobs[]" },
	{ "throughput",
	  "bytes_per_s:?real acked_bytes_per_s:?real lo:?real hi:?real confidence:real "
	  "method:?text trials:real[] ~trial_ns:integer[]" },
	{ "sockets", "client:socket server:socket" },
	{ "socket",
	  "sndbuf:?integer rcvbuf:?integer pipe_size:?integer mss:?integer nodelay:?bool "
	  "cc:?text send_errors:?integer strays:?integer tcp_info:?tcp_info" },
	{ "tcp_info",
	  "rtt_us:?integer rttvar_us:?integer min_rtt_us:?integer cwnd:?integer "
	  "snd_wnd:?integer retransmits:?integer busy_us:?integer rwnd_limited_us:?integer "
	  "sndbuf_limited_us:?integer" },
	{ "processes", "client:process server:process" },
	{ "process",
	  "pid:count pinned:?integer cpu_first:integer cpu_last:integer "
	  "voluntary_switches:integer involuntary_switches:integer user_us:integer "
	  "system_us:integer run_delay_ns:?real" },
	{ "state", "ns:?real ~count:?integer ~max_ns:?real ~log2_hist:count[] *" },
	{ "side", "lifetime_ns:count states:states *" },
	{ "endpoint",
	  "role:?text proto:text ~local:?text ~remote:?text ~pid:?integer ~comm:?text tx:?side "
	  "rx:?side ~beside:?object *" },
	{ "ledger",
	  "endpoints:endpoint[] ~stall_ns:?real ~stall_per_message_ns:?real "
	  "~normalised_stall:?real unaccounted_ns:?integer ~traced_figure:?real "
	  "~cost_ratio:?real ~ab:?object ~verdict:?text *" },
	{ "point",
	  "mode:text test:=latency|throughput|oneway|connect size:count "
	  "placement:=same|cross|cross-awake|spin|none nodelay:bool ack:?=final|message n:count "
	  "warmup:count warmup_ns:count started_ns:count ended_ns:count elapsed_ns:count "
	  "messages:count bytes:count sent:count lost:count late:count messages_per_s:?real "
	  "latency:?latency histogram:?histogram throughput:?throughput reliable:?reliable "
	  "rpc:?rpc tuned:?tuned socket:sockets process:processes noise:?object ledger:?ledger "
	  "warnings:text[] *" },
	{}
};

/* a list of `n` integers */
static json_t *counts(int n)
{
	return json_pack("{s:s, s:{s:s, s:i}, s:i, s:i}", "type", "array", "items", "type",
			 "integer", "minimum", 0, "minItems", n, "maxItems", n);
}

json_t *result_schema(void)
{
	json_t *defs = schema_objects(objects),
	       *top = schema_object("tool:tool ~invocation:text[] machine:object remote:?object "
				    "clock:clock options:object started:time complete:bool "
				    "trace:?object points:point[] events:object[] "
				    "warnings:text[] *");

	schema_set_kind(top, "ipcstall.result");
	json_object_set_new(defs, "time",
			    json_pack("{s:s, s:s}", "type", "string", "pattern",
				      "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$"));
	json_object_set_new(defs, "bucket", counts(3));
	json_object_set_new(defs, "beyond", /* k, and how many lie beyond */
			    json_pack("{s:s, s:[{s:s}, {s:s, s:i}], s:i, s:i}", "type", "array",
				      "prefixItems", "type", "number", "type", "integer",
				      "minimum", 0, "minItems", 2, "maxItems", 2));
	json_object_set_new(defs, "states",
			    json_pack("{s:s, s:{s:s}}", "type", "object", "additionalProperties",
				      "$ref", "#/$defs/state"));
	return schema_document("urn:ipcstall:result:1", "ipcstall result, version 1", top, defs);
}
