// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/figure.h"

#include <sys/param.h>

/* --- values computed from several members ----------------------------------------------------- */

#define OF_CALLS    ((const struct trace_call_stats *)owner)
#define OF_ENDPOINT ((const struct trace_endpoint *)owner)
#define VALUE(name, v) \
	static uint64_t name(const void *owner) \
	{ \
		return v; \
	}

VALUE(blocked_so_far, trace_blocked_ns(OF_CALLS))
VALUE(stopped_so_far, OF_CALLS->stopped_ns + OF_CALLS->open_stop_ns)
VALUE(longest_stop, MAX(OF_CALLS->stopped_max_ns, OF_CALLS->open_stop_ns))
VALUE(stops_so_far, OF_CALLS->stopped_n + (OF_CALLS->open_stop_ns != 0))

static uint64_t replies_so_far(const void *calls)
{
	const struct trace_call_stats *b = calls;

	return b->reply_ns + b->open_reply_ns;
}

static uint64_t undelivered_so_far(const void *endpoint)
{
	const struct trace_endpoint *ep = endpoint;

	return trace_undelivered_ns(ep);
}

static uint64_t longest_reply(const void *calls)
{
	const struct trace_call_stats *b = calls;

	return MAX(b->reply_max_ns, b->open_reply_ns);
}

/* --- how well they are known ------------------------------------------------------------------ */

#define KNOWN(name, resolution) \
	static uint8_t name(const void *owner, uint64_t value) \
	{ \
		(void)owner; \
		(void)value; \
		return resolution; \
	}

KNOWN(always, TRACE_EXACT)
/* 0: there was none, or it is not known */
KNOWN(unless_zero, value ? TRACE_EXACT : TRACE_UNKNOWN)
KNOWN(by_bytes, OF_CALLS->bytes_res)
KNOWN(by_messages, trace_messages_known(OF_CALLS) ? TRACE_EXACT : TRACE_UNKNOWN)
KNOWN(by_blocked, OF_CALLS->blocked_res)
KNOWN(by_runq, OF_CALLS->runq_res)
KNOWN(by_no_cpu, OF_CALLS->no_cpu_res)
KNOWN(by_stops, OF_CALLS->open_stop_ns ? TRACE_BOUNDED : OF_CALLS->no_cpu_res)
KNOWN(by_cpu, OF_CALLS->cpu_res)
KNOWN(by_busiest, OF_CALLS->busiest_cpu_ns ? TRACE_BOUNDED : TRACE_UNKNOWN)
KNOWN(by_delack, OF_ENDPOINT->delack_res)
KNOWN(by_retransmits, OF_ENDPOINT->retransmits_res)
/* figures that only hooks count: TCP keeps no count of them */
KNOWN(by_hooks, OF_ENDPOINT->delack_res == TRACE_UNKNOWN ? TRACE_UNKNOWN
							 : OF_ENDPOINT->retransmits_res)
KNOWN(if_accepted, OF_ENDPOINT->making.accept_ns ? TRACE_EXACT : TRACE_UNKNOWN)

/* --- the rows --------------------------------------------------------------------------------- */

#define OWN NULL

#define IS_U64		       .kind = FIGURE_U64, .n = 1
#define IS_U32		       .kind = FIGURE_U32, .n = 1
#define IS_U32_LOW	       .kind = FIGURE_U32_LOW, .n = 1
#define IS_U32_HIGH	       .kind = FIGURE_U32_HIGH, .n = 1
#define IS_FLAG		       .kind = FIGURE_FLAG, .n = 1
#define IS_RES		       .kind = FIGURE_RES, .n = 1
#define IS_PID		       .kind = FIGURE_PID, .n = 1
#define IS_COMM		       .kind = FIGURE_COMM, .n = 16
#define IS_SPREAD	       .kind = FIGURE_SPREAD, .n = 2
#define IS_LIST(size)	       .kind = FIGURE_LIST, .n = (size)
#define IS_LIST_FROM_1(size)   .kind = FIGURE_LIST, .n = (size)-1
#define IS_COUNTS_FROM_1(size) .kind = FIGURE_COUNTS, .n = (size)-1

#define FIRST_U64		  0
#define FIRST_U32		  0
#define FIRST_U32_LOW		  0
#define FIRST_U32_HIGH		  0
#define FIRST_FLAG		  0
#define FIRST_RES		  0
#define FIRST_PID		  0
#define FIRST_COMM		  0
#define FIRST_SPREAD		  0
#define FIRST_LIST(size)	  0
#define FIRST_LIST_FROM_1(size)	  sizeof(uint64_t)
#define FIRST_COUNTS_FROM_1(size) sizeof(uint32_t)

#define FIGURE_ROW(owner, within, name, type, in, sub, part, shown, made_by, known_by) \
	{ .member = #within #name, .key = (shown), \
	  .at = offsetof(owner, within name) + FIRST_##type, IS_##type, .unit = UNIT_##in, \
	  .difference = DIFFERENCE_##sub, .section = SECTION_##part, .value = (made_by), \
	  .known = (known_by) },
#define CALL_ROW(...)	  FIGURE_ROW(struct trace_call_stats, __VA_ARGS__)
#define ENDPOINT_ROW(...) FIGURE_ROW(struct trace_endpoint, __VA_ARGS__)

static const struct figure call_rows[] = { CALL_FIGURES(CALL_ROW) };
static const struct figure endpoint_rows[] = { ENDPOINT_FIGURES(ENDPOINT_ROW) };

enum {
	CALL_ROWS = sizeof(call_rows) / sizeof(call_rows[0]),
	ENDPOINT_ROWS = sizeof(endpoint_rows) / sizeof(endpoint_rows[0])
};
_Static_assert(CALL_ROWS <= 64 * TRACE_FIGURE_WORDS && ENDPOINT_ROWS <= 64 * TRACE_FIGURE_WORDS,
	       "a bit for each row");
_Static_assert(offsetof(struct trace_endpoint, min_rtt_us) ==
		       offsetof(struct trace_endpoint, rtt_us) + sizeof(uint32_t),
	       "the upper half follows the lower");

const struct figures figures_of_calls = { call_rows, CALL_ROWS,
					  offsetof(struct trace_call_stats, missing) };
const struct figures figures_of_endpoint = { endpoint_rows, ENDPOINT_ROWS,
					     offsetof(struct trace_endpoint, missing) };

/* --- the passes ------------------------------------------------------------------------------- */

static void *member(const struct figure *f, void *owner)
{
	return (char *)owner + f->at;
}

static const void *const_member(const struct figure *f, const void *owner)
{
	return (const char *)owner + f->at;
}

static const struct trace_figure_set *missing(const struct figures *s, const void *owner)
{
	return (const void *)((const char *)owner + s->missing_at);
}

bool figures_lack(const struct figures *s, const void *owner, size_t row)
{
	return missing(s, owner)->bits[row / 64] >> row % 64 & 1;
}

void figures_set_lack(const struct figures *s, void *owner, size_t row, bool lacks)
{
	struct trace_figure_set *set = (void *)((char *)owner + s->missing_at);
	uint64_t bit = 1ull << row % 64, *word = &set->bits[row / 64];

	*word = lacks ? *word | bit : *word & ~bit;
}

static bool is_64_bits_wide(const struct figure *f)
{
	return f->kind == FIGURE_U64 || f->kind == FIGURE_LIST || f->kind == FIGURE_SPREAD;
}

static void add(const struct figure *f, void *to, const void *from, int sign)
{
	uint64_t *to64 = to;
	uint32_t *to32 = to;
	const uint64_t *from64 = from;
	const uint32_t *from32 = from;

	for (size_t i = 0; i < f->n; i++) {
		if (is_64_bits_wide(f))
			to64[i] += sign < 0 ? -from64[i] : from64[i];
		else
			to32[i] += sign < 0 ? -from32[i] : from32[i];
	}
}

void figures_add(const struct figures *s, void *out, const void *a, int sign)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].difference == DIFFERENCE_SUM)
			add(&s->v[i], member(&s->v[i], out), const_member(&s->v[i], a), sign);
		if (figures_lack(s, a, i))
			figures_set_lack(s, out, i, true);
	}
}

/* a WORST row begins as exact, so that the sum gets the resolution of its worst known part */
void figures_begin_sum(const struct figures *s, void *sum)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].difference == DIFFERENCE_WORST)
			*(uint8_t *)member(&s->v[i], sum) = TRACE_EXACT;
}

void figures_add_known(const struct figures *s, void *sum, const void *a)
{
	for (size_t i = 0; i < s->n; i++) {
		uint8_t *to = member(&s->v[i], sum);
		const uint8_t *from = const_member(&s->v[i], a);

		if (s->v[i].difference == DIFFERENCE_WORST)
			*to = MIN(*to, *from);
		else if (s->v[i].difference == DIFFERENCE_BEST)
			*to = MAX(*to, *from);
	}
}

uint64_t figure_value(const struct figure *f, const void *owner)
{
	const void *v = const_member(f, owner);

	if (f->value)
		return f->value(owner);
	if (is_64_bits_wide(f))
		return *(const uint64_t *)v;
	if (f->kind == FIGURE_FLAG)
		return *(const bool *)v;
	return f->kind == FIGURE_RES ? *(const uint8_t *)v : *(const uint32_t *)v;
}

/* the index of this row, or of the row of whose member it shows a part */
static size_t row_of(const struct figures *s, const struct figure *f)
{
	for (size_t i = 0; f->section == SECTION_SHOWN && i < s->n; i++) {
		const struct figure *whole = &s->v[i];
		size_t size = whole->n * (is_64_bits_wide(whole) ? sizeof(uint64_t)
								 : sizeof(uint32_t));

		if (whole->section != SECTION_SHOWN && f->at >= whole->at &&
		    f->at < whole->at + size)
			return i;
	}
	return (size_t)(f - s->v);
}

uint8_t figure_known(const struct figures *s, const struct figure *f, const void *owner)
{
	if (figures_lack(s, owner, row_of(s, f)))
		return TRACE_UNKNOWN;
	return f->known(owner, figure_value(f, owner));
}
