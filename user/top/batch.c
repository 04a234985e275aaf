// SPDX-License-Identifier: GPL-2.0-only
#include "top/batch.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "render/ledger_text.h"
#include "top/columns.h"
#include "top/row_names.h"

/* The events that tracing lost in the interval; "" if none. */
static void loss_text(const struct rows *p, char *buf, size_t len)
{
	const struct trace_counters *c = &p->sum.counters;

	buf[0] = '\0';
	if (c->lost)
		text_append(buf, len, ", lost %" PRIu64, c->lost);
	if (c->overflow)
		text_append(buf, len, ", no room for %" PRIu64 " endpoints (--max-endpoints)",
			    c->overflow);
	if (c->dropped)
		text_append(buf, len, ", dropped %" PRIu64 " closed endpoints", c->dropped);
	if (c->missed)
		text_append(buf, len, ", missed %" PRIu64, c->missed);
	if (c->blind)
		text_append(buf, len, ", blind %" PRIu64, c->blind);
}

/* "12k"; ">12k" if some traffic went unseen */
static void sum_text(const struct rows *p, const struct row_sum *s, char buf[16])
{
	buf[0] = '>';
	human_count(row_per_second(p, s->n), buf + s->lacks, 15);
}

void summary_text(const struct rows *p, char *buf, size_t len)
{
	char out[16], in[16], messages[16], loss[192];

	sum_text(p, &p->sum.tx_bytes, out);
	sum_text(p, &p->sum.rx_bytes, in);
	sum_text(p, &p->sum.messages, messages);
	loss_text(p, loss, sizeof(loss));
	snprintf(buf, len,
		 "%zu endpoints, %zu active%s, stall %.1f%% of the senders' time, out %s B/s, in "
		 "%s B/s, %s messages/s",
		 p->sum.endpoints, p->sum.active, loss,
		 p->sum.sender_ns ? 100.0 * (double)p->sum.stall_ns / (double)p->sum.sender_ns
				  : 0.0,
		 out, in, messages);
}

static size_t rows_shown(const struct rows *p, size_t rows)
{
	return rows && rows < p->shown ? rows : p->shown;
}

int batch_lines(const struct rows *p, size_t rows, int width, FILE *out)
{
	char *line = malloc((size_t)width + 1), text[SUMMARY_TEXT], clock[16];
	time_t now = time(NULL);
	struct layout l;
	struct tm tm;

	if (!line)
		return -1;
	layout_choose(&l, width, p);
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &tm));
	summary_text(p, text, sizeof(text));
	fprintf(out, "%s  %.2f s: %s\n", clock, (double)p->interval_ns / 1e9, text);
	layout_title(&l, line, (size_t)width + 1);
	fprintf(out, "%s\n", line);
	for (size_t i = 0; i < rows_shown(p, rows); i++) {
		layout_row(&l, p, &p->v[p->order[i]], line, (size_t)width + 1);
		fprintf(out, "%s\n", line);
	}
	fputc('\n', out);
	free(line);
	return fflush(out) || ferror(out) ? -1 : 0;
}

/* ---- NDJSON ---- */

static json_t *states_json(const uint64_t *ns, const char *const *names, unsigned int n)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < n; i++)
		if (ns[i])
			json_object_set_new(o, names[i], json_integer((json_int_t)ns[i]));
	return o;
}

static json_t *count_or_null(uint64_t n, bool known)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static json_t *side_json(const char comm[16], pid_t tgid, uint64_t bytes, uint64_t messages,
			 uint8_t gap, json_t *states)
{
	char name[17];

	snprintf(name, sizeof(name), "%.16s", comm);
	return json_pack("{s:s?, s:o, s:o, s:o, s:o}", "program", tgid ? name : NULL, "pid",
			 tgid ? json_integer(tgid) : json_null(), "bytes",
			 count_or_null(bytes, gap < GAP_BYTES), "messages",
			 count_or_null(messages, gap == GAP_NONE), "ns", states);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static void add_blame(json_t *o, const struct rows *p, const struct row *r)
{
	const struct trace_digest *s = row_digest(p, r),
				  *peer = s->proto == TRACE_PIPE ? s : row_peer(p, r);
	bool named = peer && peer->rx_tgid && blame_is_peers(r->blamed);
	char name[17] = "";

	if (named)
		snprintf(name, sizeof(name), "%.16s", peer->rx_comm);
	json_object_set_new(o, "cause",
			    r->cause == ROW_NO_CAUSE ? json_null() : json_string(cause_text(r)));
	json_object_set_new(o, "blamed", text_or_null(blame_names[r->blamed]));
	json_object_set_new(o, "blamed_program", named ? json_string(name) : json_null());
	json_object_set_new(o, "blamed_pid", named ? json_integer(peer->rx_tgid) : json_null());
	json_object_set_new(o, "surety", text_or_null(r->blamed ? surety_names[r->surety] : NULL));
}

static json_t *row_json(const struct rows *p, const struct row *r)
{
	const struct trace_digest *s = row_digest(p, r);
	uint64_t tx[TX_N], rx[RX_N];
	char here[80], there[80], cgroup[256];
	json_t *o;

	local_text(s, here, sizeof(here));
	remote_text(s, row_peer(p, r), there, sizeof(there));
	row_states(p, r, tx, rx);
	o = json_pack("{s:I, s:s, s:s, s:s?, s:I, s:b, s:I, s:f, s:o, s:o, s:o}", "serial",
		      (json_int_t)s->serial, "proto", trace_proto_name(s->proto), "local", here,
		      "remote", strcmp(there, "-") ? there : NULL, "ns", (json_int_t)r->ns,
		      "closed", s->closed, "stall_ns", (json_int_t)r->stall_ns, "stall_share",
		      row_share(p, r), "rtt_us", s->rtt_us ? json_integer(s->rtt_us) : json_null(),
		      "tx",
		      side_json(s->tx_comm, s->tx_tgid, r->tx_bytes, r->tx_messages, r->tx_gap,
				states_json(tx, trace_tx_names, TX_N)),
		      "rx",
		      side_json(s->rx_comm, s->rx_tgid, r->rx_bytes, r->rx_messages, r->rx_gap,
				states_json(rx, trace_rx_names, RX_N)));
	json_object_set_new(o, "cgroup",
			    trace_cgroup_path(s->cgroup_id, cgroup, sizeof(cgroup))
				    ? json_string(cgroup)
				    : json_null());
	json_object_set_new(o, "netns", s->netns ? json_integer(s->netns) : json_null());
	json_object_set_new(o, "drops", count_or_null(r->drops, s->drops_known));
	add_blame(o, p, r);
	return o;
}

int batch_json(const struct rows *p, size_t rows, FILE *out)
{
	const struct trace_counters *c = &p->sum.counters;
	json_t *list = json_array(), *doc;
	int bad;

	for (size_t i = 0; i < rows_shown(p, rows) && list; i++)
		append_or_drop(&list, row_json(p, &p->v[p->order[i]]));
	doc = json_pack(
		"{s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}}",
		"schema", "ipcstall.top", "version", 1, "at_ns", (json_int_t)p->now.at_ns,
		"interval_ns", (json_int_t)p->interval_ns, "n_endpoints",
		(json_int_t)p->sum.endpoints, "n_active", (json_int_t)p->sum.active, "stall_ns",
		(json_int_t)p->sum.stall_ns, "endpoints", list, "counters", "observed",
		(json_int_t)c->observed, "lost", (json_int_t)c->lost, "unpaired",
		(json_int_t)c->unpaired, "overflow", (json_int_t)c->overflow, "missed",
		(json_int_t)c->missed, "blind", (json_int_t)c->blind, "dropped",
		(json_int_t)c->dropped);
	bad = json_dumpf(doc, out, JSON_COMPACT) || fputc('\n', out) == EOF || fflush(out);
	json_decref(doc);
	return bad ? -1 : 0;
}
