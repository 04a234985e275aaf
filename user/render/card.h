/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The card: the first output of every command that reaches a verdict. It has the outcome, how much
 * time it cost, and who waits for whom; where, why and what to do next; and other findings. It is
 * text alone, made once from a verdict. card_text.c prints it, ledger_json.c writes it as JSON.
 */
#ifndef IPCSTALL_RENDER_CARD_H
#define IPCSTALL_RENDER_CARD_H

#include "render/ledger_text.h"
#include "render/paint.h"

/* Whether a fix was tried, and with what result. */
enum fix_state { FIX_NONE, FIX_SUGGESTED, FIX_PROVEN, FIX_REFUTED, FIX_STATES };

extern const char *const outcome_words[OUTCOMES_N]; /* a card's first word: "STALLED" */

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
	const char *cause;			     /* a state's name; NULL: no cause */
	struct spent spent;
	double share;				     /* NAN: no share */
	char who[PARTY_TEXT], whom[PARTY_TEXT + 48]; /* "dd[1]", "gzip[2]"; empty: nobody */
	char head[720];				     /* "dd[1] waits for gzip[2]" */
	char where[320], why[480];
	char where_brief[320]; /* without count and longest; empty: as `where` */
	bool has_surety;
	enum surety surety;
	char fix[400], next[240]; /* what ends it; where to look next */
	enum fix_state fix_state;
	char also[VERDICT_ALSO][VERDICT_TEXT];
	size_t n_also;
};

/* Makes the card of a snapshot and its verdict. */
void card_make(const struct trace_snapshot *s, const struct verdict *v, struct card *c);

/* If changing a socket option of the running program can cure the stall, appends to c->fix the
 * `ipcstall try` command that proves it. */
void card_point_to_try(const struct trace_snapshot *s, const struct verdict *v, struct card *c);

void card_print(const struct card *c, const struct paint *p);

/* "card": {...} */
json_t *card_to_json(const struct card *c);

/* How much detail verdict_screen() shows below the card. */
struct card_extent {
	size_t shown; /* endpoints, one line each; 0: all */
	bool ledger;  /* whole ledgers too */
	bool live;    /* the programs still run */
};

/* Prints the card, the states of the endpoints that it names as bars, a line for each other
 * endpoint, and what the tracing missed. */
void verdict_screen(const struct trace_snapshot *s, const struct verdict *v,
		    const struct card_extent *x, const struct paint *p);

#endif
