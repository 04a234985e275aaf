// SPDX-License-Identifier: GPL-2.0-only
/* The options of commands that trace other programs: defaults, and the meaning of text values. */
#include <stdlib.h>
#include <string.h>

#include "render/sink.h"
#include "session/session.h"

const char *const session_backends[] = { "auto", "fentry", "kprobe", "rawtp", NULL };
const char *const session_proto_words[] = { "tcp", "udp", "pipe", "unix", NULL };

/* The default threshold: short enough for a flame graph, long enough to keep the number of
 * stalls on a busy server small. */
#define DEFAULT_THRESHOLD_NS 10000

void session_defaults(void *opts)
{
	struct session_opts *o = opts;

	o->max_endpoints = 4096;
	o->shown = 10;
	o->interval_ns = 1000000000;
	o->timeline_max = 1000000;
}

static unsigned int proto_bits(const char *name)
{
	static const struct {
		const char *name;
		unsigned int bits;
	} rows[] = {
		{ "tcp", 1u << TRACE_TCP },
		{ "udp", 1u << TRACE_UDP },
		{ "pipe", 1u << TRACE_PIPE },
		{ "unix", 1u << TRACE_UNIX_STREAM | 1u << TRACE_UNIX_DGRAM |
			1u << TRACE_UNIX_SEQPACKET },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].bits;
	return 0;
}

static void set_protos(const struct session_opts *o, struct trace_options *t)
{
	for (size_t i = 0; i < o->protos.n; i++)
		t->protos |= proto_bits(o->protos.v[i]);
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
		return err_usage(e, "--port: given %zu times; give one port or one range A-B",
				 o->ports.n);
	if (parse_ports(o->ports.v[0], &lo, &hi))
		return err_usage(e,
				 "--port '%s': not a port (1 to 65535) nor a range A-B; give one, "
				 "as in -P 443 or -P 8000-8100",
				 o->ports.v[0]);
	t->port_lo = (uint16_t)lo;
	t->port_hi = (uint16_t)hi;
	if (!t->protos) /* nothing else has ports */
		t->protos = 1u << TRACE_TCP | 1u << TRACE_UDP;
	return 0;
}

bool session_wants_timeline(const struct session_opts *o)
{
	return o->out[OUT_TIMELINE] || o->out[OUT_PERFETTO] || (o->html && !o->sampled);
}

bool session_wants_stacks(const struct session_opts *o)
{
	return o->stacks || o->out[OUT_FOLDED];
}

bool session_wants_stalls(const struct session_opts *o)
{
	return o->threshold_ns || session_wants_stacks(o);
}

uint64_t session_threshold(const struct session_opts *o)
{
	return o->threshold_ns		 ? (uint64_t)o->threshold_ns
	       : session_wants_stacks(o) ? DEFAULT_THRESHOLD_NS
					 : 0;
}

int session_check_outputs(const struct session_opts *o, const char *input, struct err *e)
{
	const char *paths[LEDGER_OUTPUTS_N + 3] = { o->ndjson, o->record, o->html };
	size_t n = sizeof(paths) / sizeof(paths[0]);

	for (int i = 0; i < LEDGER_OUTPUTS_N; i++)
		paths[3 + i] = o->out[i];
	return (input && outputs_spare(input, paths, n, e)) || outputs_check(paths, n, e) ? -1 : 0;
}

int session_seen(const struct session_opts *o, struct trace_options *t, struct err *e)
{
	set_protos(o, t);
	return set_ports(o, t, e);
}
