/* SPDX-License-Identifier: GPL-2.0-only */
/* Ledgers and verdicts, as JSON and as text for people. */
#ifndef IPCSTALL_RENDER_LEDGER_TEXT_H
#define IPCSTALL_RENDER_LEDGER_TEXT_H

#include <jansson.h>

#include "base/human.h"
#include "render/names.h"
#include "render/paint.h"
#include "verdict/verdict.h"

/* what a reader's full datagram queue does to its senders (verdict.no_room) */
extern const char no_room_phrase[];
void append_main_writer(const struct trace_snapshot *s, const struct scattered *sum, char *buf,
			size_t len);
void append_busy_sender(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len);
void append_quick_answers(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			  size_t len);
void append_busy_reader(const struct trace_snapshot *s, const struct verdict *v, char *buf,
			size_t len);
/* Says that a thread was busy, if the process's busiest one was on a CPU for at least half of `ns`.
 * Which of its threads reads is unknown. */
void append_busy_thread(const struct trace_call_stats *b, uint64_t ns, char *buf, size_t len);
/* what kept a program off the CPUs for at least half of `ns`: a stop, or its cgroup's CPU quota;
 * NULL: neither */
const char *halt_phrase(const struct trace_snapshot *s, const struct trace_call_stats *b,
			uint64_t ns);
extern const char stopped_phrase[], stopped_fix[], throttled_phrase[], throttled_fix[];
extern const char read_while_writing_fix[], starved_fix[], withheld_fix[];
const char *halt_fix(const struct trace_snapshot *s, const struct trace_call_stats *b, uint64_t ns);
/* halt_phrase() of the reader that is blamed for a stall; NULL: it was free to run */
const char *reader_halted(const struct trace_snapshot *s, const struct finding *f);
/* "is not reading", "reads often, and does not keep up", "waits for slowfeed[7] to send"; for
 * several readers "are", "read", "wait" */
const char *reader_phrase(const struct trace_snapshot *s, const struct finding *f, bool several,
			  char *buf, size_t len);
/* "sndbuf, rwnd": all causes united in the finding, its own first */
enum { CAUSES_TEXT = 96 };
void causes_text(const struct finding *f, char *buf, size_t len);

/* "  sampled 1200 times, ..."; prints nothing unless the session samples */
void sampling_line(const struct trace_sampling *m, uint64_t now_ns, const struct paint *p);

json_t *endpoint_to_json(const struct trace_snapshot *s, const struct trace_endpoint *ep);
/* ledger_to_json() without the endpoints */
json_t *ledger_summary_to_json(const struct trace_snapshot *s, const struct verdict *v);
/* {"endpoints": [...], "findings": [...], "stall_ns", "unaccounted_ns", "verdict": TEXT,
 * counters...} */
json_t *ledger_to_json(const struct trace_snapshot *s, const struct verdict *v);
/* {"backend", "why", "hooks": [...], "not_covered": [...]} */
json_t *trace_to_json(struct trace *t);
/* Takes over the entry. If the entry cannot be appended, *list becomes NULL. */
void append_or_drop(json_t **list, json_t *entry);

/* One line: who stalls, the cause, who is blamed, how often, how long. */
void finding_sentence(const struct trace_snapshot *s, const struct finding *f, char *buf,
		      size_t len);
/* What to do about a finding: the cause's general advice, or a more specific one if the blame is
 * known. */
const char *finding_fix(const struct trace_snapshot *s, const struct finding *f);
/* "rcvbuf", ... */
const char *drop_name(enum trace_drop kind);
/* the name used instead for datagrams that were sent and did not arrive */
#define LOST_ON_PATH "path"
/* One line: whose datagrams were dropped, how many, and where. */
void loss_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len);
/* "10 datagrams dropped at its full receive buffer (2.0 % of those read or dropped)" */
void append_loss(const struct datagram_loss *loss, char *buf, size_t len);
/* whose socket dropped them, or could not send them */
void loss_party(const struct trace_endpoint *ep, const struct datagram_loss *loss, char *buf,
		size_t len);
const char *loss_fix(const struct datagram_loss *loss);

void withheld_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
		       size_t len);
/* The buffer size for a verdict's sentence, including its root cause. */
enum { VERDICT_TEXT = 1024 };
/* One sentence for the whole snapshot: the leading finding, and the root cause of its wait. */
void verdict_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
		      size_t len);
/* The fix for the leading finding; empty: there is nothing to fix. */
const char *verdict_fix(const struct trace_snapshot *s, const struct verdict *v);
/* The findings beside the leading one: a sentence each, at most `max`. Returns how many. */
enum { VERDICT_ALSO_STALLS = 3, VERDICT_ALSO = 8 };
size_t verdict_also(const struct trace_snapshot *s, const struct verdict *v,
		    char text[][VERDICT_TEXT], size_t max);
/* Whether the reader causes the stall, because it does not empty the buffer or the window. */
bool is_readers_doing(const struct finding *f);
/* ", longest 648 ms", if the longest is far above the average of the n that last `sum_ns` in all */
void append_longest(uint64_t longest_ns, uint64_t sum_ns, uint64_t n, char *buf, size_t len);
/* "thinks 300 ms a request, 41 requests" */
void append_requests(const struct requests *r, bool several, char *buf, size_t len);
/* how long each request waits in the program that forwards it */
void append_queued(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len);
/* "each waits for the other to send, a deadlock" */
const char *mutual_phrase(const struct mutual_wait *m);
/* "the reader's CPU" */
const char *limit_phrase(enum limit l);

/* Prints one block per endpoint that did anything, the most stalled first, at most `max` (0: all).
 */
void ledger_blocks(const struct trace_snapshot *s, size_t max, const struct paint *p);

#endif
