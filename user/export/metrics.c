// SPDX-License-Identifier: GPL-2.0-only
#include "export/metrics.h"

#include <math.h>
#include <stdio.h>

enum { LABELS = 512 };

typedef void group_fn(struct exposition *x, const struct metric *m, const struct group *g,
		      const char *labels);

static void with(char *out, const char *labels, const char *name, const char *value)
{
	snprintf(out, LABELS, "%s", labels);
	label_add(out, LABELS, name, value);
}

/* A cause that cannot occur is not shown as 0: only TCP holds back a queue, other protocols only
 * wait for room. */
static bool can_stall(const struct group *g, unsigned int state)
{
	return tx_is_stall(state) &&
	       (g->tx_ns[state] ||
		(g->tx_known[state] && (g->proto == TRACE_TCP || state == TX_SNDBUF)));
}

static void write_stall(struct exposition *x, const struct metric *m, const struct group *g,
			const char *labels)
{
	char l[LABELS];

	for (unsigned int i = 0; i < TX_N; i++)
		if (can_stall(g, i)) {
			with(l, labels, "cause", trace_tx_names[i]);
			expo_seconds(x, m, l, g->tx_ns[i]);
		}
}

static void write_blamed(struct exposition *x, const struct metric *m, const struct group *g,
			 const char *labels)
{
	char l[LABELS], by[LABELS];

	for (unsigned int i = 0; i < TX_N; i++) {
		const struct {
			const char *by;
			uint64_t ns;
		} parts[] = { { "delayed-ack", g->delack_ns[i] },
			      { "reader", g->unread_ns[i] },
			      { "reader-no-cpu", g->starved_ns[trace_vote(i)] } };

		with(l, labels, "cause", trace_tx_names[i]);
		for (size_t k = 0; tx_is_stall(i) && k < 3; k++) {
			with(by, l, "by", parts[k].by);
			if (parts[k].ns)
				expo_seconds(x, m, by, parts[k].ns);
		}
	}
}

static void write_states(struct exposition *x, const struct metric *m, const struct group *g,
			 const char *labels)
{
	char side[LABELS], l[LABELS];

	with(side, labels, "ledger", "tx");
	for (unsigned int i = 0; i < TX_N; i++)
		if (g->tx_ns[i]) {
			with(l, side, "state", trace_tx_names[i]);
			expo_seconds(x, m, l, g->tx_ns[i]);
		}
	with(side, labels, "ledger", "rx");
	for (unsigned int i = 0; i < RX_N; i++)
		if (g->rx_ns[i]) {
			with(l, side, "state", trace_rx_names[i]);
			expo_seconds(x, m, l, g->rx_ns[i]);
		}
}

static void one_way(struct exposition *x, const struct metric *m, const char *labels,
		    const char *direction, const struct tally *t)
{
	char l[LABELS];

	if (t->lacks)
		return;
	with(l, labels, "direction", direction);
	expo_u64(x, m, l, t->sum);
}

#define WRITE(name, ...) \
	static void write_##name(struct exposition *x, const struct metric *m, \
				 const struct group *g, const char *labels) \
	{ \
		__VA_ARGS__; \
	}
#define WRITE_IF(name, known, write, v) WRITE(name, if (known) write(x, m, labels, v))

WRITE(bytes, one_way(x, m, labels, "sent", &g->sent_bytes);
      one_way(x, m, labels, "received", &g->received_bytes))
WRITE(messages, one_way(x, m, labels, "sent", &g->sent);
      one_way(x, m, labels, "received", &g->received))
WRITE_IF(blocked, !g->blocked_ns.lacks, expo_seconds, g->blocked_ns.sum + g->open_sleep_ns)
WRITE_IF(runq, !g->runq_ns.lacks, expo_seconds, g->runq_ns.sum)
WRITE_IF(retransmits, g->retransmits_known, expo_u64, g->retransmits)
WRITE_IF(withheld_acks, g->delack_known, expo_seconds, g->withheld_ack_ns)
WRITE_IF(drops, g->drops_known, expo_u64, g->drops)
WRITE(endpoints, expo_u64(x, m, labels, g->endpoints))

static const struct {
	struct metric m;
	group_fn *write;
} by_group[] = {
	{ { "ipcstall_stall_seconds", METRIC_COUNTER, "Time in which data was ready "
						      "and held back, by cause." }, write_stall },
	{ { "ipcstall_blamed_stall_seconds", METRIC_COUNTER,
	    "The part of the stall that the other end on this host caused: its delayed ACK, a "
	    "reader that did not read, or one that waited for a CPU (reader-no-cpu: it overlaps "
	    "with the others)." },
	    	write_blamed },
	{ { "ipcstall_withheld_ack_seconds", METRIC_COUNTER,
	    "Time in which senders that are not seen waited for delayed ACKs of this host, "
	    	"inferred from when their next data came." }, write_withheld_acks },
	{ { "ipcstall_state_seconds", METRIC_COUNTER, "Time of all endpoints in each state of "
		"their two ledgers." }, write_states },
	{ { "ipcstall_bytes", METRIC_COUNTER, "Bytes sent and received." }, write_bytes },
	{ { "ipcstall_messages", METRIC_COUNTER, "Calls that sent or received." }, write_messages },
	{ { "ipcstall_blocked_seconds", METRIC_COUNTER,
		"Time in which writers slept inside a call." }, write_blocked },
	{ { "ipcstall_runqueue_seconds", METRIC_COUNTER, "Time in which threads woken in a call "
		"waited for a CPU." }, write_runq },
	{ { "ipcstall_retransmits", METRIC_COUNTER, "TCP segments sent again." },
		write_retransmits },
	{ { "ipcstall_drops", METRIC_COUNTER, "Datagrams dropped on this host." }, write_drops },
	{ { "ipcstall_endpoints", METRIC_GAUGE, "Open endpoints." }, write_endpoints },
};

static void group_labels(const struct group *g, char *labels)
{
	labels[0] = '\0';
	label_add(labels, LABELS, "process", g->process);
	label_add(labels, LABELS, "cgroup", g->cgroup);
	label_add(labels, LABELS, "proto", trace_proto_name(g->proto));
}

static void write_groups(struct exposition *x, const struct groups *g)
{
	char labels[LABELS];

	for (size_t k = 0; k < sizeof(by_group) / sizeof(by_group[0]); k++) {
		expo_family(x, &by_group[k].m);
		for (size_t i = 0; i < g->n; i++) {
			group_labels(&g->v[i], labels);
			by_group[k].write(x, &by_group[k].m, &g->v[i], labels);
		}
		for (int p = 0; p < TRACE_PROTOS; p++)
			if (g->other[p].used_ns) {
				group_labels(&g->other[p], labels);
				by_group[k].write(x, &by_group[k].m, &g->other[p], labels);
			}
	}
}

/* slot k of a ledger's histogram is [2^(k-1), 2^k) us */
static void write_durations(struct exposition *x, const struct groups *g)
{
	static const struct metric m = {
		"ipcstall_stall_duration_seconds", METRIC_HISTOGRAM,
		"How long single stalls lasted, by cause; the sum includes those in progress."
	};
	char labels[LABELS];
	double le[TRACE_HIST];

	for (int i = 0; i < TRACE_HIST; i++)
		le[i] = i == TRACE_HIST - 1 ? INFINITY : ldexp(1e-6, i);
	expo_family(x, &m);
	for (int p = 1; p < TRACE_PROTOS; p++)
		for (unsigned int s = 0; s < TX_N; s++) {
			if (!tx_is_stall(s) || (p != TRACE_TCP && !g->stalls[p][s].ns))
				continue;
			labels[0] = '\0';
			label_add(labels, LABELS, "proto", trace_proto_name((enum trace_proto)p));
			label_add(labels, LABELS, "cause", trace_tx_names[s]);
			expo_histogram(x, &m, labels, le, g->stalls[p][s].n, TRACE_HIST,
				       g->stalls[p][s].ns);
		}
}

struct counted {
	struct metric m;
	uint64_t v;
};

static void write_counted(struct exposition *x, const struct counted *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		expo_family(x, &rows[i].m);
		expo_u64(x, &rows[i].m, "", rows[i].v);
	}
}

static void write_ledger_counts(struct exposition *x, const struct groups *g)
{
	const struct trace_counters *c = &g->last.head.counters;
	const struct counted rows[] = {
		{ { "ipcstall_observed_events", METRIC_COUNTER,
			"Events that the kernel half took into account." }, c->observed },
		{ { "ipcstall_lost_records", METRIC_COUNTER,
			"Records lost for want of room on their way to user space." }, c->lost },
		{ { "ipcstall_unpaired_events", METRIC_COUNTER,
			"Calls whose end was seen, but not their beginning." }, c->unpaired },
		{ { "ipcstall_overflow_endpoints", METRIC_COUNTER,
			"Endpoints that found no room (--max-endpoints)." }, c->overflow },
		{ { "ipcstall_missed_runs", METRIC_COUNTER, "Programs that did not run because one "
			"was running on that CPU." }, c->missed },
		{ { "ipcstall_blind_stretches", METRIC_COUNTER,
			"Stretches of a CPU in which the kernel ran no program at all." },
			c->blind },
		{ { "ipcstall_opened_endpoints", METRIC_COUNTER,
			"Endpoints seen for the first time." }, c->opened },
		{ { "ipcstall_closed_endpoints", METRIC_COUNTER, "Endpoints whose end was seen." },
			c->closed },
		{ { "ipcstall_dropped_endpoints", METRIC_COUNTER,
		    "Endpoints counted under process=other, because more ended between two "
		    	"readings than are kept." }, c->dropped },
	};

	write_counted(x, rows, sizeof(rows) / sizeof(rows[0]));
}

static void write_own_counts(struct exposition *x, const struct groups *g,
			     const struct exporter_state *e)
{
	const struct counted rows[] = {
		{ { "ipcstall_groups", METRIC_GAUGE, "Groups of program, cgroup and protocol, "
			"not counting process=other." }, g->n },
		{ { "ipcstall_groups_limit", METRIC_GAUGE,
			"The most groups there can be (--max-groups)." }, g->max },
		{ { "ipcstall_folded_endpoints", METRIC_COUNTER,
			"Endpoints counted under process=other, for want of a group." },
			g->folded },
		{ { "ipcstall_retired_groups", METRIC_COUNTER,
			"Groups dropped after a long idle time, to make room for "
			"others." }, g->retired },
		{ { "ipcstall_scrapes", METRIC_COUNTER, "Requests answered with metrics." },
			e->scrapes },
		{ { "ipcstall_refused_requests", METRIC_COUNTER,
			"Requests answered with an error, or given up." }, e->refused },
		{ { "ipcstall_collections", METRIC_COUNTER, "Times the ledgers were read." },
			e->collections },
		{ { "process_resident_memory_bytes", METRIC_GAUGE,
			"Resident memory of the exporter." }, e->resident_bytes },
		{ { "process_start_time_seconds", METRIC_GAUGE,
			"When the exporter started, since 1970." }, e->start_unix_s },
	};

	write_counted(x, rows, sizeof(rows) / sizeof(rows[0]));
}

static void write_own_times(struct exposition *x, const struct exporter_state *e)
{
	static const struct metric cpu = { "process_cpu_seconds", METRIC_COUNTER,
		"CPU time of the exporter, in user and kernel mode." };
	static const struct metric took = { "ipcstall_collect_duration_seconds", METRIC_GAUGE,
		"Time that the last reading of the ledgers took." };
	static const struct metric about = { "ipcstall_build", METRIC_INFO,
		"Version and backend." };
	char labels[LABELS] = "";

	expo_family(x, &cpu);
	expo_seconds(x, &cpu, "", e->cpu_ns);
	expo_family(x, &took);
	expo_seconds(x, &took, "", e->collect_ns);
	label_add(labels, LABELS, "version", e->version);
	label_add(labels, LABELS, "revision", e->git);
	label_add(labels, LABELS, "backend", e->backend);
	expo_family(x, &about);
	expo_u64(x, &about, labels, 1);
}

void metrics_write(struct exposition *x, const struct groups *g, const struct exporter_state *e)
{
	write_groups(x, g);
	if (!e->sampled) /* samples see no single stall */
		write_durations(x, g);
	write_ledger_counts(x, g);
	write_own_counts(x, g, e);
	write_own_times(x, e);
	expo_end(x);
}
