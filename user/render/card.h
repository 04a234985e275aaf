/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The card: what every command says first that ends in a verdict. Outcome, how much, who waits for
 * whom; where, why, what to do next; what is true beside it. Text alone, made once from a verdict;
 * card_text.c prints it, ledger_json.c writes it.
 */
#ifndef IPCSTALL_RENDER_CARD_H
#define IPCSTALL_RENDER_CARD_H

#include "render/ledger_text.h"
#include "render/paint.h"

/* What is known of a fix. */
enum fix_state { FIX_NONE, FIX_SUGGESTED, FIX_PROVEN, FIX_REFUTED, FIX_STATES };
extern const char *const fix_state_names[FIX_STATES]; /* FIX_NONE: NULL */

extern const char *const outcome_words[OUTCOMES_N]; /* as a card begins: "STALLED" */

/* The time that a card reports. */
struct spent {
	const char *state; /* NULL: not named */
	size_t connections;
	/* lifetime_ns 0: no time to report; count 0: unknown */
	uint64_t ns, lifetime_ns, count, max_ns;
	bool goes_on, estimated;
};

struct card {
	enum outcome outcome;
	enum finding_kind kind;
	const char *cause;			     /* a state's name; NULL: it has none */
	struct spent spent;
	double share;				     /* NAN: it has none */
	char who[PARTY_TEXT], whom[PARTY_TEXT + 48]; /* "dd[1]", "gzip[2]"; empty: nobody */
	char head[720];				     /* "dd[1] waits for gzip[2]" */
	char where[320], why[480];
	char where_brief[320]; /* without how often; empty: as it is */
	bool has_surety;
	enum surety surety;
	char fix[400], next[240]; /* what mends it; where there is no such thing, where to look */
	enum fix_state fix_state;
	char also[VERDICT_ALSO][VERDICT_TEXT];
	size_t n_also;
};

/* Of a snapshot and its verdict. */
void card_make(const struct trace_snapshot *s, const struct verdict *v, struct card *c);

/* Where an option of the running program can cure it: the command that proves that. */
void card_point_to_try(const struct trace_snapshot *s, const struct verdict *v, struct card *c);

void card_print(const struct card *c, const struct paint *p);

/* "card": {...} */
json_t *card_to_json(const struct card *c);

/* How much of what lies behind it is shown. */
struct card_extent {
	size_t shown; /* endpoints, one line each; 0: all */
	bool ledger;  /* and whole ledgers */
	bool live;    /* the programs run on */
};

/* The card, the states of whom it names as bars, the other endpoints in a line each, what was not
 * seen. */
void verdict_screen(const struct trace_snapshot *s, const struct verdict *v,
		    const struct card_extent *x, const struct paint *p);

#endif
