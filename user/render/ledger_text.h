/* SPDX-License-Identifier: GPL-2.0-only */
/* Ledgers and verdicts, written out: as JSON and as what a person reads. */
#ifndef IPCSTALL_RENDER_LEDGER_TEXT_H
#define IPCSTALL_RENDER_LEDGER_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "base/human.h"
#include "render/names.h"
#include "render/paint.h"
#include "verdict/verdict.h"

/* why it matters that a reader of datagrams leaves no room for more (verdict.no_room) */
const char *no_room_phrase(void);
void append_main_writer(const struct trace_snapshot *s, const struct scattered *sum, char *buf,
			size_t len);
void append_busy_sender(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len);
void append_quick_answers(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			  size_t len);
void append_busy_reader(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len);
/* if one of several threads was busy for most of so long, of which any may be the reader */
void append_busy_thread(const struct trace_call_stats *b, uint64_t ns, char *buf, size_t len);
/* of a program that was not allowed to run for most of so long: what kept it off, and the fix;
 * NULL: nothing did */
const char *halt_phrase(const struct trace_snapshot *s, const struct trace_call_stats *b,
			uint64_t ns);
const char *read_while_writing_fix(void);
const char *stopped_phrase(void);
const char *stopped_fix(void);
const char *throttled_phrase(void);
const char *throttled_fix(void);
const char *halt_fix(const struct trace_snapshot *s, const struct trace_call_stats *b, uint64_t ns);
/* the same of the reader that a stall is laid at the door of */
const char *reader_halted(const struct trace_snapshot *s, const struct finding *f);
/* "is not reading", "reads often, and does not keep up", "waits for slowfeed[7] to send"; of
 * several "are", "read", "wait" */
const char *reader_phrase(const struct trace_snapshot *s, const struct finding *f, bool several,
			  char *buf, size_t len);
/* "sndbuf, rwnd": all that are in the finding, its own first */
enum { CAUSES_TEXT = 96 };
void causes_text(const struct finding *f, char *buf, size_t len);

/* "  sampled 1200 times, ..."; nothing where nothing is sampled */
void sampling_line(const struct trace_sampling *m, uint64_t now_ns, const struct paint *p);

json_t *endpoint_to_json(const struct trace_snapshot *s, const struct trace_endpoint *ep);
/* the same without the endpoints */
json_t *ledger_summary_to_json(const struct trace_snapshot *s, const struct verdict *v);
/* {"endpoints": [...], "findings": [...], "stall_ns", "unaccounted_ns", "verdict": TEXT,
 * counters...} */
json_t *ledger_to_json(const struct trace_snapshot *s, const struct verdict *v);
/* {"backend", "why", "hooks": [...], "not_covered": [...]} */
json_t *trace_to_json(struct trace *t);
/* Takes over the entry. *list becomes NULL where that is NULL. */
void append_or_drop(json_t **list, json_t *entry);

/* One line: whose stall, the cause, who kept it waiting, how often, how long. */
void finding_sentence(const struct trace_snapshot *s, const struct finding *f, char *buf,
		      size_t len);
/* What to do about it: the cause's own advice, or a sharper one where the blame allows. */
const char *finding_fix(const struct trace_snapshot *s, const struct finding *f);
/* "rcvbuf", ... */
const char *drop_name(enum trace_drop kind);
/* instead of one, of what was lost between two ends */
#define LOST_ON_PATH "path"
/* One line: whose datagrams were dropped, how many, where; and what to do about it. */
void loss_sentence(const struct trace_snapshot *s, const struct datagram_loss *loss, char *buf,
		   size_t len);
/* "10 datagrams dropped at its full receive buffer (2.0 % of those read or dropped)" */
void append_loss(const struct datagram_loss *loss, char *buf, size_t len);
const char *loss_fix(const struct datagram_loss *loss);

/* w->endpoint is not -1 */
void starved_sentence(const struct trace_snapshot *s, const struct reader_spell *starved, char *buf,
		      size_t len);
const char *starved_fix(void);
void withheld_sentence(const struct trace_snapshot *s, const struct withheld_ack *w, char *buf,
		       size_t len);
const char *withheld_fix(void);
/* Room for it, root and all. */
enum { VERDICT_TEXT = 1024 };
/* One sentence for the whole snapshot: the largest finding, and the root of what it waits for. */
void verdict_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
		      size_t len);
/* For what the sentence says; empty: there is nothing to fix. */
const char *verdict_fix(const struct trace_snapshot *s, const struct verdict *v);
/* What is true too: a sentence each, at most `max` of them. Returns how many. */
enum { VERDICT_ALSO_STALLS = 3, VERDICT_ALSO = 8 };
size_t verdict_also(const struct trace_snapshot *s, const struct verdict *v,
		    char text[][VERDICT_TEXT], size_t max);
/* "thinks 300 ms a request, 41 requests" */
bool is_readers_doing(const struct finding *f);
/* ", longest 648 ms": where that is far above the average of n that are so long in all */
void append_longest(uint64_t longest_ns, uint64_t sum_ns, uint64_t n, char *buf, size_t len);
void append_requests(const struct requests *r, bool several, char *buf, size_t len);
/* where each was before it was passed on */
void append_queued(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len);
/* "each waits for the other to send, a deadlock" */
const char *mutual_phrase(const struct mutual_wait *m);
/* "the reader's CPU" */
const char *limit_phrase(enum limit l);

/* One block per endpoint that did anything, the most stalled first, at most `max` (0: all). */
void ledger_blocks(const struct trace_snapshot *s, size_t max, const struct paint *p);

#endif
