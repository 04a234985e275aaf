// SPDX-License-Identifier: GPL-2.0-only
#include "session/prover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/opt.h"
#include "host/proc.h"
#include "render/doing_json.h"
#include "render/ledger_text.h"
#include "session/doing.h"
#include "session/session.h"
#include "session/sleep_chain.h"
#include "session/suspects.h"
#include "session/watched.h"
#include "session/live_verdict.h"
#include "verdict/judge.h"
#include "verdict/pipeline.h"

#define JUDGED_EVERY_NS 2000000000ull
#define FIRST_NS	1000000000ull
#define JUDGING_SHARE	0.005 /* of a CPU: judging 20,000 endpoints takes most of a second */
#define IDLE_CPU	0.2

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

/* Prints the first failure, and proves nothing from then on. Sampling goes on. */
static bool give_up(struct prover *p, const struct err *e)
{
	err_print(e);
	p->budget = 0;
	return false;
}

/* Takes what was seen since the last window. */
static int take_window(struct prover *p, struct trace *t, struct trace_snapshot *window,
		       struct err *e)
{
	size_t n;

	if (trace_snapshot(t, window, e))
		return -1;
	n = window->n;
	if (trace_next_phase(window, &p->last) == 0)
		return 0;
	trace_snapshot_free(window);
	return err_resource(e, "attach: no memory for %zu endpoints; trace fewer", n);
}

static int begin_window(struct prover *p, struct trace *t, struct err *e)
{
	struct trace_snapshot so_far;

	if (take_window(p, t, &so_far, e))
		return -1;
	trace_snapshot_free(&so_far);
	p->next_ns = now_ns() + FIRST_NS;
	return 0;
}

void prover_prepare(struct prover *p, struct trace *t, uint64_t duration_ns)
{
	struct err e = {};

	if (!zoom_time(0, duration_ns, FIRST_NS) || !(p->budget > 0))
		return;
	if (begin_window(p, t, &e) || prover_load(p, &e))
		give_up(p, &e);
}

void parties_add(struct parties *who, pid_t pid)
{
	if (pid > 0 && who->n < PARTIES_MOST && !process_is_in(pid, who->v, who->n))
		who->v[who->n++] = pid;
}

struct parties parties_of_stall(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint],
				    *peer = f->peer >= 0 ? &s->ep[f->peer] : ep;
	struct parties who = {};

	parties_add(&who, ep->tx_calls.tgid);
	parties_add(&who, ep->rx_calls.tgid);
	parties_add(&who, peer->rx_calls.tgid);
	parties_add(&who, peer->tx_calls.tgid);
	return who;
}

static uint64_t preparing_ns(const struct prover *p)
{
	return p->loaded ? p->zoom.start_ns : p->load_ns;
}

static bool any_lives(const struct parties *who)
{
	for (size_t i = 0; i < who->n; i++)
		if (process_lives(who->v[i]))
			return true;
	return false;
}

bool prover_prove(struct prover *p, const struct parties *who, uint64_t deadline,
		  const struct zoom_stop *stop, struct trace_snapshot *proof)
{
	struct err e = {};
	uint64_t ns = zoom_time(now_ns(), deadline, preparing_ns(p));

	if (!(p->budget > 0) || !who->n || !ns || (p->loaded && !zoom_allowed(&p->zoom, ns)))
		return false;
	if (prover_load(p, &e))
		return give_up(p, &e);
	if (!zoom_time(now_ns(), deadline, 0)) /* loading took longer than was thought */
		return false;
	if (zoom_at(&p->zoom, who->v, who->n, deadline, stop, proof, &e))
		return any_lives(who) && give_up(p, &e);
	trace_name_other_ends(proof);
	trace_count_other_drops(proof);
	return true;
}

#define GROWN 1.5

bool proof_wait_has_grown(const struct proof *p, double share)
{
	return p->of == OUTCOME_WAITING && share > GROWN * p->share;
}

static bool is_proven(const struct prover *p, const struct proof *wanted)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct proof *x = &p->proofs[i];

		if (x->of == wanted->of && x->serial == wanted->serial &&
		    x->cause == wanted->cause && x->awaited == wanted->awaited &&
		    !(x->v.outcome == OUTCOME_HEALTHY && proof_wait_has_grown(x, wanted->share)))
			return true;
	}
	return false;
}

/* Adds the processes that the session was told to follow, if they are few. */
static void add_targets(const struct trace_options *filter, struct parties *who)
{
	if (filter->filter == TRACE_FILTER_ALL || filter->filter == TRACE_FILTER_CGROUP ||
	    who->n + filter->n_tgids > PARTIES_MOST)
		return;
	for (size_t i = 0; i < filter->n_tgids; i++)
		parties_add(who, filter->tgids[i]);
}

bool is_limited_by_reader(const struct trace_snapshot *s, const struct verdict *v)
{
	return v->kind == KIND_LIMIT && v->v[v->lead].limit == LIMIT_READER_CPU && s->samples;
}

/* The user asks about a single program, and it has used little CPU since the last call. Exact
 * tracing would slow down a busy one. */
static bool target_is_idle(struct prover *p)
{
	const struct trace_options *f = p->filter;
	struct cpu_book book, none = {};
	struct thread_cpu did;
	bool idle;

	if ((f->filter != TRACE_FILTER_TGIDS && f->filter != TRACE_FILTER_TREE) ||
	    f->n_tgids != 1)
		return false;
	cpu_book_make(&book, p->target.at_ns ? &p->target : &none, f->tgids, 1);
	idle = p->target.at_ns && cpu_book_thread(&book, &p->target, f->tgids[0], 0, &did) &&
	       (double)did.ran_ns < IDLE_CPU * (double)(book.at_ns - p->target.at_ns);
	cpu_book_free(&p->target);
	p->target = book;
	return idle;
}

/* What samples say about a window, what is to be proven about it, and on which processes */
struct suspicion {
	struct trace_snapshot window;
	struct verdict v;
	struct proof wanted;
	struct parties who;
};

/* False: there is nothing to prove, or it is proven already. */
static bool is_suspect(struct prover *p, struct suspicion *x)
{
	const struct trace_snapshot *window = &x->window;
	const struct verdict *v = &x->v;
	const struct finding *f = &v->v[v->lead];
	struct parties *who = &x->who;
	struct proof *wanted = &x->wanted;

	*wanted = (struct proof){ .of = v->outcome, .share = v->share };
	*who = (struct parties){};
	if (v->outcome == OUTCOME_STALLED && v->kind == KIND_STALL &&
	    finding_share(f) >= LEAST_SHARE) {
		wanted->serial = window->ep[f->endpoint].serial;
		wanted->cause = f->cause;
		*who = parties_of_stall(window, f);
	} else if (v->outcome == OUTCOME_WAITING) {
		wanted->awaited = verdict_awaited(window, v);
		who->n = verdict_waiting_processes(window, v, who->v, PARTIES_MOST);
		add_targets(p->filter, who);
	} else if (v->outcome == OUTCOME_HEALTHY && v->may_pause) {
		wanted->awaited = v->may_pause;
		parties_add(who, v->may_pause);
	} else if (v->outcome == OUTCOME_HEALTHY && v->kind == KIND_QUIET && target_is_idle(p)) {
		add_targets(p->filter, who);
	} else if (is_limited_by_reader(window, v)) {
		wanted->serial = window->ep[f->endpoint].serial;
		*who = parties_of_stall(window, f);
	} else if (v->outcome == OUTCOME_UNKNOWN) {
		add_targets(p->filter, who);
	}
	return who->n && p->n < PROOFS_MOST && !is_proven(p, wanted);
}

bool is_same_end(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->proto == b->proto && a->inode && a->inode == b->inode;
}

const struct trace_endpoint *end_in(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	for (size_t i = 0; i < s->n; i++)
		if (is_same_end(&s->ep[i], ep))
			return &s->ep[i];
	return NULL;
}

/* The limit that the ledger found at that endpoint: for this cause, else for any. */
static enum limit limit_there(const struct proof *proof, const struct trace_endpoint *suspect,
			      enum tx_state cause)
{
	enum limit any = LIMIT_NONE;

	for (size_t i = 0; i < proof->v.n; i++) {
		const struct finding *f = &proof->v.v[i];

		if (f->limit == LIMIT_NONE ||
		    !is_same_end(suspect, &proof->s.ep[f->endpoint]))
			continue;
		if (f->cause == cause)
			return f->limit;
		any = any ? any : f->limit;
	}
	return any;
}

/* The share of that endpoint's time that the ledger found in that state. */
static double share_there(const struct proof *proof, const struct trace_endpoint *suspect,
			  enum tx_state cause)
{
	const struct trace_endpoint *ep = end_in(&proof->s, suspect);

	return ep && ep->tx.lifetime_ns
		       ? (double)ep->tx.ns[cause] / (double)ep->tx.lifetime_ns
		       : 0;
}

static void add_ruling(struct prover *p, const struct trace_ruling *r)
{
	for (size_t i = 0; i < p->n_rulings; i++)
		if (p->rulings[i].serial == r->serial && p->rulings[i].cause == r->cause) {
			p->rulings[i] = *r;
			return;
		}
	if (p->n_rulings < RULINGS_MOST)
		p->rulings[p->n_rulings++] = *r;
}

static bool found_stall(const struct proof *proof, const struct trace_endpoint *suspect)
{
	for (size_t i = 0; i < proof->v.n; i++)
		if (judge_is_stall(&proof->v, i) &&
		    is_same_end(suspect, &proof->s.ep[proof->v.v[i].endpoint]))
			return true;
	return false;
}

/* Removes the rulings on this endpoint: the ledger has found a stall there. */
static void withdraw_rulings(struct prover *p, uint64_t serial)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_rulings; i++)
		if (p->rulings[i].serial != serial)
			p->rulings[n++] = p->rulings[i];
	p->n_rulings = n;
}

/* Rules on every cause at that endpoint, since another may lead in the next window. A ruling
 * covers at least ANY_CAUSE of its stalls, or the share that the ledger saw. */
#define ANY_CAUSE 0.33

void prover_rule(struct prover *p, const struct trace_endpoint *suspect, const struct proof *proof)
{
	double all = (double)ledger_stall_ns(&suspect->tx);

	if (found_stall(proof, suspect))
		withdraw_rulings(p, suspect->serial);
	if (proof->v.outcome != OUTCOME_HEALTHY)
		return;
	for (unsigned int cause = 0; cause < TX_N; cause++) {
		double sampled = fmax((double)suspect->tx.ns[cause], ANY_CAUSE * all) /
				 (double)suspect->tx.lifetime_ns;
		struct trace_ruling r = {
			.serial = suspect->serial,
			.cause = cause,
			.share = fmax(sampled, share_there(proof, suspect, cause)),
			.limit = (int)limit_there(proof, suspect, cause),
		};

		if (tx_is_stall(cause) && r.limit != LIMIT_NONE)
			add_ruling(p, &r);
	}
}

/* No hook sees what a thread does between two messages. The call in which it sleeps shows
 * whether it waits for a lock, a timer or a disk. */
#define DOING_SAMPLES 25
#define DOING_NS      (2 * DOING_SAMPLES * DOING_APART_NS) /* on a busy host; includes the chain */

/* The samples found a wait, and the stall that leads in the proof explains little of it. */
static bool is_beside_wait(const struct proof *proof, const struct suspicion *x)
{
	pid_t awaited = verdict_culprit(&x->window, &x->v).pid;

	return awaited && x->v.kind == KIND_WAIT && proof->v.kind == KIND_STALL &&
	       proof->v.share < EXPLAINS &&
	       verdict_awaited_besides(&proof->s, &proof->v).pid == awaited;
}

/* If no message passed while the ledger was attached, only the samples name the culprit. */
static struct culprit culprit_of(const struct proof *proof, const struct suspicion *x)
{
	if (is_beside_wait(proof, x))
		return verdict_awaited_besides(&proof->s, &proof->v);
	if (proof->v.outcome == OUTCOME_HEALTHY)
		return (struct culprit){};
	if (proof->v.kind != KIND_UNSEEN)
		return verdict_culprit(&proof->s, &proof->v);
	return verdict_culprit(&x->window, &x->v);
}

/* It was watched for as long as the ledger was attached, so the samples fall into the waits that
 * the ledger saw. */
static bool is_watched(const struct watched *w, const struct culprit *who)
{
	const struct asleep *a = &w->doing;

	return a->pid == who->pid && (a->at_work || ((!who->tid || a->tid == who->tid) &&
						     (!a->tid || a->samples >= DOING_SAMPLES)));
}

/* An awaited process that seems idle may be so only between two requests, when it waits for nobody
 * else. */
#define FOLLOW_NS    1000000000ull
#define FOLLOW_APART 50000000

static void follow_chain(struct asleep *a, bool to_read, uint64_t deadline,
			 const struct zoom_stop *stop)
{
	uint64_t until = MIN(deadline, now_ns() + FOLLOW_NS);

	sleep_chain_follow(a, to_read, deadline, stop);
	while (!a->n_chain && !a->end && !to_read && asleep_for_events(a) &&
	       now_ns() + FOLLOW_APART < until && !(stop && stop->asked(stop->ctx))) {
		nanosleep(&(struct timespec){ .tv_nsec = FOLLOW_APART }, NULL);
		sleep_chain_follow(a, to_read, until, stop);
	}
}

static void look_at_culprit(struct proof *proof, struct suspicion *x, const struct watched *during,
			    uint64_t deadline)
{
	struct culprit culprit = culprit_of(proof, x);
	struct asleep *a = &proof->doing;
	struct watched now;

	if (!culprit.pid)
		return;
	if (is_watched(during, &culprit)) {
		*a = during->doing;
		a->awaited = culprit.awaited;
		memcpy(a->waiters, culprit.waiters, sizeof(a->waiters));
	} else {
		watched_begin(&now, culprit, NULL, during->stop);
		doing_sample(&now.doing, doing_samples(DOING_SAMPLES, culprit.awaited), deadline,
			     during->stop);
		watched_end(&now);
		*a = now.doing;
	}
	asleep_leave_out_rests(a);
	follow_chain(a, culprit.to_read, deadline, during->stop);
	if (proof->v.kind != KIND_UNSEEN && !is_beside_wait(proof, x))
		proof->v.doing = a;
}

#define COMPUTES 0.8 /* of the time, including waits for a CPU */

static bool computes(const struct asleep *a)
{
	return a->over_ns && a->busiest_ns >= a->no_cpu_ns && 2 * a->quota_ns < a->over_ns &&
	       (double)(a->busiest_ns + a->no_cpu_ns) >= COMPUTES * (double)a->over_ns;
}

/* Each stall is short: the reader takes what has come again and again. */
#define OFTEN 20

static bool is_back_often(const struct finding *f)
{
	return f->count >= OFTEN && OFTEN * f->max_ns <= f->ns;
}

/* The ledger sees only the thread that reads. If another thread computes all the time and the
 * process reads nothing else (zstd, for example), the limit is its CPU. */
static void judge_by_its_cpu(struct proof *proof)
{
	const struct finding *f = &proof->v.v[proof->v.lead];
	const struct asleep *a = &proof->doing;

	if (proof->v.kind != KIND_STALL || f->blamed != BLAME_PEER_READER || f->root >= 0 ||
	    f->reader_waits >= 0 || !computes(a) ||
	    a->pid != verdict_culprit(&proof->s, &proof->v).pid ||
	    !(is_filter(&proof->s, a->pid) || is_back_often(f)))
		return;
	proof->computes = (struct trace_ruling){ .serial = proof->s.ep[f->endpoint].serial,
						 .cause = f->cause,
						 .share = 1,
						 .limit = LIMIT_READER_CPU };
	proof->s.rulings = &proof->computes;
	proof->s.n_rulings = 1;
	verdict_make(&proof->s, &proof->v);
	proof->v.doing = a;
}

double share_unanswered(const struct trace_endpoint *ep)
{
	uint64_t ns = MAX(ep->rx_calls.reply_ns, ep->tx_calls.reply_ns);

	return ep->rx.lifetime_ns ? (double)ns / (double)ep->rx.lifetime_ns : 0;
}

struct awaited_share {
	uint64_t inode;
	double share;
};

ORDER_BY(by_inode, struct awaited_share, inode)

static double *unanswered_before(const struct trace_snapshot *proof,
				 const struct trace_snapshot *window)
{
	struct awaited_share *all = array_new(window->n, 1, sizeof(*all)), *found;
	double *share = array_new(proof->n, 1, sizeof(*share));

	for (size_t i = 0; all && i < window->n; i++)
		all[i] = (struct awaited_share){ window->ep[i].inode,
						 share_unanswered(&window->ep[i]) };
	if (all)
		qsort(all, window->n, sizeof(*all), by_inode);
	for (size_t i = 0; all && share && i < proof->n; i++) {
		found = bsearch(&(struct awaited_share){ .inode = proof->ep[i].inode }, all,
				window->n, sizeof(*all), by_inode);
		share[i] = found && proof->ep[i].inode ? found->share : 0;
	}
	free(all);
	return share;
}

/* What the awaited process does for others is not in question, unless it gets no connection. */
static void keep_their_business(struct proof *proof, const struct parties *who, pid_t awaited)
{
	verdict_make(&proof->s, &proof->v);
	if (!verdict_lacks_connection(&proof->s, &proof->v, awaited) || proof->v.share < EXPLAINS)
		trace_keep_ends_of(&proof->s, who->v, who->n);
}

static bool prove(struct prover *p, struct suspicion *x, uint64_t deadline,
		  const struct zoom_stop *stop)
{
	struct proof *proof = &p->proofs[p->n];
	uint64_t spent = p->zoom.spent_ns;
	struct parties who = x->who;
	struct culprit suspect;
	struct watched during;
	bool proven;

	*proof = x->wanted;
	trace_name_other_ends(&x->window);
	suspect = verdict_suspect(&x->window, &x->v);
	if (proof->of != OUTCOME_STALLED)
		parties_add(&who, suspect.pid);
	watched_begin(&during, suspect, suspect.to_read ? NULL : &p->zoom, stop);
	proven = prover_prove(p, &who, deadline - DOING_NS,
			      &(struct zoom_stop){ watched_look, &during }, &proof->s);
	watched_end(&during);
	if (!proven)
		return false;
	if (who.n > x->who.n)
		keep_their_business(proof, &x->who, suspect.pid);
	proof->at_ns = proof->s.at_ns;
	proof->unanswered = unanswered_before(&proof->s, &x->window);
	proof->ns = p->zoom.spent_ns - spent;
	live_verdict(&proof->s, &proof->v);
	look_at_culprit(proof, x, &during, deadline);
	judge_by_its_cpu(proof);
	p->n++;
	return true;
}

static int judge_window(struct prover *p, struct trace *t, uint64_t deadline,
			const struct zoom_stop *stop, struct err *e)
{
	uint64_t before = thread_cpu_ns();
	struct suspicion x;

	if (!p->last.head.at_ns)
		return begin_window(p, t, e);
	if (take_window(p, t, &x.window, e))
		return -1;
	suspects_confirm(t, &x.window, deadline, stop);
	verdict_make(&x.window, &x.v);
	p->judging_ns = thread_cpu_ns() - before;
	if (is_suspect(p, &x) && prove(p, &x, deadline, stop) &&
	    (x.wanted.of == OUTCOME_STALLED || x.v.kind == KIND_LIMIT))
		prover_rule(p, &x.window.ep[x.v.v[x.v.lead].endpoint], &p->proofs[p->n - 1]);
	trace_snapshot_free(&x.window);
	return 0;
}

/* With very many endpoints a session of a few seconds may end before its next judgement. */
#define SLACK_NS 500000000

static bool is_last_chance(struct prover *p, uint64_t now, uint64_t deadline)
{
	uint64_t takes = preparing_ns(p) + ZOOM_MOST_NS + DOING_NS + SLACK_NS;

	if (p->had_last_chance || deadline == UINT64_MAX || !p->last.head.at_ns ||
	    now + takes < deadline)
		return false;
	p->had_last_chance = true;
	return true;
}

int prover_tick(struct prover *p, struct trace *t, uint64_t deadline, const struct zoom_stop *stop,
		struct err *e)
{
	uint64_t now = now_ns();
	int rc;

	if (!(p->budget > 0) || (now < p->next_ns && !is_last_chance(p, now, deadline)))
		return 0;
	rc = judge_window(p, t, deadline, stop, e);
	p->next_ns = now_ns() + gap_for_share(JUDGED_EVERY_NS, p->judging_ns, JUDGING_SHARE);
	return rc;
}

/* What a process did longer ago may be over. */
#define STALE_NS 60000000000ull

const struct asleep *prover_doing(const struct prover *p, const struct trace_snapshot *s,
				  const struct verdict *v)
{
	pid_t pid = verdict_culprit(s, v).pid;

	for (size_t i = p->n; pid && i-- > 0;) {
		const struct proof *proof = &p->proofs[i];

		if (proof->doing.pid == pid &&
		    (s->at_ns - proof->at_ns < STALE_NS || !process_lives(pid)))
			return &proof->doing;
	}
	return NULL;
}

/* Below a healthy card, a wait (for the next message, say) would read like an accusation. */
static void proof_text(const struct proof *proof, bool healthy, char *text, size_t len)
{
	if (healthy && proof->v.outcome == OUTCOME_WAITING && proof->v.kind != KIND_STALL)
		snprintf(text, len, "no sender was held up");
	else
		verdict_sentence(&proof->s, &proof->v, text, len);
}

void prover_print(const struct prover *p, const struct proof *but, bool healthy, FILE *out)
{
	char text[VERDICT_TEXT], line[VERDICT_TEXT + 64];

	for (size_t i = 0; i < p->n; i++) {
		const struct proof *proof = &p->proofs[i];

		if (proof == but)
			continue;
		proof_text(proof, healthy, text, sizeof(text));
		snprintf(line, sizeof(line), "exact tracing of %s: %s", human_time(proof->ns).text,
			 text);
		fputs("  proof  ", out);
		opt_wrap(out, line, 9);
	}
}

static json_t *cpu_to_json(const struct asleep *a)
{
	if (!a->over_ns)
		return json_null();
	return json_pack("{s:i, s:I, s:i, s:I, s:I, s:I, s:b}", "pid", (int)a->pid, "ns",
			 (json_int_t)a->over_ns, "busiest_tid", (int)a->busiest, "busiest_ns",
			 (json_int_t)a->busiest_ns, "no_cpu_ns", (json_int_t)a->no_cpu_ns,
			 "quota_ns", (json_int_t)a->quota_ns, "stopped", a->stopped);
}

static json_t *proof_to_json(const struct proof *p)
{
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "t", (json_int_t)p->at_ns, "ns",
			 (json_int_t)p->ns, "ledger", ledger_summary_to_json(&p->s, &p->v),
			 "asleep", doing_to_json(&p->doing), "cpu", cpu_to_json(&p->doing));
}

json_t *prover_to_json(const struct prover *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < p->n && all; i++)
		json_array_append_new(all, proof_to_json(&p->proofs[i]));
	return all;
}

void prover_end(struct prover *p)
{
	for (size_t i = 0; i < p->n; i++) {
		trace_snapshot_free(&p->proofs[i].s);
		free(p->proofs[i].unanswered);
	}
	trace_packed_free(&p->last);
	cpu_book_free(&p->target);
	if (p->loaded)
		zoom_free(&p->zoom);
}
