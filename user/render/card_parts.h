/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files that make cards share: a file for each group of findings, and a function
 * card_KIND() for each kind. */
#ifndef IPCSTALL_RENDER_CARD_PARTS_H
#define IPCSTALL_RENDER_CARD_PARTS_H

#include "render/card.h"
#include "verdict/requests.h"
#include "verdict/who.h"

/* snprintf() and text_append() to an array */
#define SET(array, ...) snprintf(array, sizeof(array), __VA_ARGS__)
#define ADD(array, ...) text_append(array, sizeof(array), __VA_ARGS__)
/* "curl[7] waits for what" */
#define WAITS_FOR(c, what, ...) \
	SET((c)->head, "%s %s for " what, (c)->who, card_verb_waits((c)->who), ##__VA_ARGS__)

/* the card that is made, and its sources */
struct making {
	const struct trace_snapshot *s;
	const struct verdict *v;
	struct card *c;
};

/* share of a CPU from which a program computes, rather than sleeps or waits for another */
#define BUSY 0.5

#define MUCH_CAME 65536 /* bytes that were received */

#define CARD_OF(sym, name) void card_##name(const struct making *m);
FINDING_KINDS(CARD_OF)
#undef CARD_OF

extern const char card_serve_more_fix[], card_accept_fix[];

void card_someone(struct who *p, bool several, char *buf, size_t len);
void card_reader_name(const struct making *m, const struct finding *f, char *buf, size_t len);
void card_blamed_name(const struct making *m, const struct finding *f, char *buf, size_t len);
void card_sender_name(const struct making *m, const struct finding *f, char *buf, size_t len);
void card_where(struct card *c, const struct trace_endpoint *ep, const struct spent *x);
void card_where_spell(const struct making *m, const struct reader_spell *r, const char *state,
		      uint64_t lifetime_ns);
void card_where_finding(const struct making *m, const struct finding *f);
void card_set_surety(struct card *c, enum surety s);
void card_set_fix(struct card *c, const char *fix);
void card_take_fix(const struct making *m);
const char *card_verb_waits(const char *who);
void card_append_doing(const struct making *m);
void card_append_doing_of_another(const struct making *m);
void card_fix_doing(const struct making *m, bool reads);
void card_rate_text(double a_second, const char *unit, char *buf, size_t len);
bool card_why_halted(const struct making *m, const char *who, const struct trace_call_stats *b,
		     uint64_t ns);
uint64_t card_longest_of(const struct reader_spell *r);
double card_busy_share(const struct trace_call_stats *sender, const struct trace_endpoint *ep);
void card_append_share_of_cpu(struct card *c, double busy);
void card_why_requests(const struct making *m, const struct requests *r,
		       const struct trace_call_stats *sender, const struct trace_endpoint *ep);
void card_next_wait(const struct making *m, const struct trace_endpoint *ep, pid_t sender);
void card_where_wait(const struct making *m);

#endif
