/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of figure_rows.h as tables: each pass over the figures of an endpoint is a loop. */
#ifndef IPCSTALL_TRACER_FIGURE_H
#define IPCSTALL_TRACER_FIGURE_H

#include "tracer/trace.h"

enum figure_kind {
	FIGURE_U64,
	FIGURE_U32,
	FIGURE_U32_LOW,	 /* in a recording: the lower half of one number, */
	FIGURE_U32_HIGH, /* and its upper half, the next row */
	FIGURE_FLAG,
	FIGURE_RES,
	FIGURE_PID,
	FIGURE_COMM,
	FIGURE_SPREAD,
	FIGURE_LIST,   /* of 64 bits each */
	FIGURE_COUNTS, /* of 32 bits each */
	FIGURE_KINDS
};

enum figure_unit {
	UNIT_NONE,
	UNIT_NS,
	UNIT_US,
	UNIT_BYTES,
	UNIT_BYTES_PER_S,
	UNIT_COUNT,
	UNIT_NUMBER,
	UNIT_TEXT
};

enum figure_difference {
	DIFFERENCE_NONE,
	DIFFERENCE_SUM,
	DIFFERENCE_LAST,
	DIFFERENCE_WORST,
	DIFFERENCE_BEST
};

/* sections of a recording; SHOWN: a part of another row, in no section */
enum figure_section {
	SECTION_SHOWN,
	SECTION_CALLS,
	SECTION_STOPS,
	SECTION_ACKS,
	SECTION_LOSSES,
	SECTION_QUEUE,
	SECTION_MAKING,
	SECTION_PARTS,
	SECTION_PATH,
	SECTION_REPLIES,
	SECTION_GIVEN
};

struct figure {
	const char *member, *key;
	uint16_t at, n; /* offset; entries. Of a list: the offset of its first entry */
	uint8_t kind, unit, difference, section;
	uint64_t (*value)(const void *owner); /* NULL: the member itself */
	/* enum trace_resolution; UNKNOWN is null in JSON */
	uint8_t (*known)(const void *owner, uint64_t value);
};

struct figures {
	const struct figure *v;
	size_t n;
	size_t missing_at; /* offset of the set of missing figures */
};

/* of a struct trace_call_stats, and of a struct trace_endpoint */
extern const struct figures figures_of_calls, figures_of_endpoint;

/* out += sign * a */
void figures_add(const struct figures *s, void *out, const void *a, int sign);
/* how well a sum is known; it begins as known */
void figures_begin_sum(const struct figures *s, void *sum);
void figures_add_known(const struct figures *s, void *sum, const void *a);

/* the value of a row as it is shown, and how well it is known */
uint64_t figure_value(const struct figure *f, const void *owner);
uint8_t figure_known(const struct figures *s, const struct figure *f, const void *owner);

/* Is a row missing? Sets whether it is. */
bool figures_lack(const struct figures *s, const void *owner, size_t row);
void figures_set_lack(const struct figures *s, void *owner, size_t row, bool lacks);

#endif
