// SPDX-License-Identifier: GPL-2.0-only
#include "session/prover.h"

#include "base/clock.h"
#include "base/human.h"
#include "base/opt.h"
#include "render/ledger_text.h"
#include "session/session.h"

#define JUDGED_EVERY_NS 2000000000ull
#define FIRST_NS	1000000000ull
#define LEAST_SHARE	0.1

void prover_begin(struct prover *p, const struct trace_options *filter, double budget,
		  uint64_t load_ns)
{
	*p = (struct prover){ .filter = filter, .budget = budget, .load_ns = load_ns };
}

int prover_load(struct prover *p, struct err *e)
{
	struct trace_options filter = *p->filter;

	if (p->loaded || !(p->budget > 0))
		return 0;
	filter.on_stall = NULL;
	if (zoom_prepare(&p->zoom, &filter, p->budget, e))
		return -1;
	p->loaded = true;
	return 0;
}

/* The first failure is told, and ends it: the looks go on. */
static bool give_up(struct prover *p, const struct err *e)
{
	err_print(e);
	p->budget = 0;
	return false;
}

void prover_prepare(struct prover *p, uint64_t duration_ns)
{
	struct err e = {};

	if (zoom_time(0, duration_ns, FIRST_NS) && prover_load(p, &e))
		give_up(p, &e);
}

static size_t add_pid(pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return n;
	if (pid > 0)
		pids[n++] = pid;
	return n;
}

static size_t pids_of(const struct trace_snapshot *s, const struct finding *f, pid_t pids[4])
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint],
				    *peer = f->peer >= 0 ? &s->ep[f->peer] : ep;
	size_t n = 0;

	n = add_pid(pids, n, ep->tx_calls.tgid);
	n = add_pid(pids, n, ep->rx_calls.tgid);
	n = add_pid(pids, n, peer->rx_calls.tgid);
	return add_pid(pids, n, peer->tx_calls.tgid);
}

static uint64_t preparing_ns(const struct prover *p)
{
	return p->loaded ? p->zoom.start_ns : p->load_ns;
}

bool prover_prove(struct prover *p, const struct trace_snapshot *window, const struct finding *f,
		  uint64_t deadline, const struct zoom_stop *stop, struct trace_snapshot *proof)
{
	struct err e = {};
	pid_t pids[4];
	size_t n = pids_of(window, f, pids);
	uint64_t ns = zoom_time(now_ns(), deadline, preparing_ns(p));

	if (!(p->budget > 0) || !n || !ns || (p->loaded && !zoom_allowed(&p->zoom, ns)))
		return false;
	if (prover_load(p, &e))
		return give_up(p, &e);
	if (!zoom_time(now_ns(), deadline, 0)) /* loading took longer than was thought */
		return false;
	return !zoom_at(&p->zoom, pids, n, deadline, stop, proof, &e) || give_up(p, &e);
}

static bool is_suspect(const struct prover *p, const struct trace_snapshot *window,
		       const struct verdict *v)
{
	const struct finding *f = &v->v[v->lead];

	if (v->outcome != OUTCOME_STALLED || v->kind != KIND_STALL ||
	    finding_share(f) < LEAST_SHARE || p->n == PROOFS_MOST)
		return false;
	for (size_t i = 0; i < p->n; i++)
		if (p->proofs[i].serial == window->ep[f->endpoint].serial &&
		    p->proofs[i].cause == f->cause)
			return false;
	return true;
}

/* Another session sees the same socket or pipe, under another number. */
static bool is_same_end(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->proto == b->proto && a->inode && a->inode == b->inode;
}

static void rule(struct prover *p, const struct trace_endpoint *suspect,
		 const struct finding *suspected, const struct proof *proof)
{
	for (size_t i = 0; proof->v.outcome == OUTCOME_HEALTHY && i < proof->v.n; i++) {
		const struct finding *f = &proof->v.v[i];

		if (f->limit == LIMIT_NONE ||
		    !is_same_end(suspect, &proof->s.ep[f->endpoint]))
			continue;
		p->rulings[p->n_rulings++] = (struct trace_ruling){
			.serial = suspect->serial,
			.cause = suspected->cause,
			.share = (double)suspected->ns / (double)suspect->tx.lifetime_ns,
			.limit = (int)f->limit,
		};
		return;
	}
}

static void prove(struct prover *p, const struct trace_snapshot *window, const struct finding *f,
		  uint64_t deadline, const struct zoom_stop *stop)
{
	struct proof *proof = &p->proofs[p->n];
	uint64_t spent = p->zoom.spent_ns;

	*proof = (struct proof){ .serial = window->ep[f->endpoint].serial, .cause = f->cause };
	if (!prover_prove(p, window, f, deadline, stop, &proof->s))
		return;
	proof->at_ns = proof->s.at_ns;
	proof->ns = p->zoom.spent_ns - spent;
	verdict_make(&proof->s, &proof->v);
	rule(p, &window->ep[f->endpoint], f, proof);
	p->n++;
}

static int judge(struct prover *p, struct trace *t, uint64_t deadline, const struct zoom_stop *stop,
		 struct err *e)
{
	struct trace_snapshot now, window;
	struct trace_error te = {};
	struct verdict v;

	if (trace_snapshot(t, &now, &te))
		return session_error(e, &te);
	if (!p->last.at_ns) {
		p->last = now;
		p->next_ns = now_ns() + FIRST_NS;
		return 0;
	}
	if (trace_snapshot_sub(&window, &p->last, &now)) {
		trace_snapshot_free(&now);
		return err_set(e, EXIT_NO_RESOURCE,
			       "attach: no memory for %zu endpoints; trace fewer", now.n);
	}
	verdict_make(&window, &v);
	if (is_suspect(p, &window, &v))
		prove(p, &window, &v.v[v.lead], deadline, stop);
	trace_snapshot_free(&window);
	trace_snapshot_free(&p->last);
	p->last = now;
	return 0;
}

int prover_tick(struct prover *p, struct trace *t, uint64_t deadline, const struct zoom_stop *stop,
		struct err *e)
{
	if (!(p->budget > 0) || now_ns() < p->next_ns)
		return 0;
	p->next_ns = now_ns() + JUDGED_EVERY_NS;
	return judge(p, t, deadline, stop, e);
}

void prover_print(const struct prover *p, FILE *out)
{
	char text[VERDICT_TEXT], line[VERDICT_TEXT + 64], lasted[32];

	for (size_t i = 0; i < p->n; i++) {
		const struct proof *proof = &p->proofs[i];

		human_ns((double)proof->ns, lasted, sizeof(lasted));
		verdict_sentence(&proof->s, &proof->v, text, sizeof(text));
		snprintf(line, sizeof(line), "the ledger, for %s: %s", lasted, text);
		fputs("  proof  ", out);
		opt_wrap(out, line, 9);
	}
}

json_t *prover_to_json(const struct prover *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < p->n && all; i++)
		json_array_append_new(
			all, json_pack("{s:I, s:I, s:o}", "t", (json_int_t)p->proofs[i].at_ns, "ns",
				       (json_int_t)p->proofs[i].ns, "ledger",
				       ledger_summary_to_json(&p->proofs[i].s, &p->proofs[i].v)));
	return all;
}

void prover_end(struct prover *p)
{
	for (size_t i = 0; i < p->n; i++)
		trace_snapshot_free(&p->proofs[i].s);
	trace_snapshot_free(&p->last);
	if (p->loaded)
		zoom_free(&p->zoom);
}
