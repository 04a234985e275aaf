// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/judge.h"

#include <math.h>

#include "verdict/other_findings.h"

#define OUTCOME_NAME(sym, name) [sym] = name,
const char *const outcome_names[OUTCOMES_N] = { OUTCOMES(OUTCOME_NAME) };

/* The finding of the highest rank leads. */
enum rank {
	RANK_NONE,
	RANK_ASIDE,	   /* true, but never the verdict: RANK_UNSEEN is always there */
	RANK_BESIDE_LIMIT, /* a stall or a wait for a CPU, beside a limit that takes more time */
	RANK_UNSEEN,
	RANK_QUIET,
	RANK_LIMIT,
	RANK_DWARFED,	  /* a wait that is a small part of another one */
	RANK_ANSWERS,	  /* if the server waits in turn, that wait explains these */
	RANK_WAIT,
	RANK_CONNECT,
	RANK_SCATTERED,
	RANK_STARVED,
	RANK_LOSS,
	RANK_UNANSWERED,
	RANK_SECOND,	  /* of two findings about an unseen sender, the shorter one */
	RANK_FIRST,
	RANK_UNDELIVERED, /* nothing that ranks below can be mended before this */
	RANK_STALL,
	RANK_OVERSHADOWS, /* what stalled is negligible beside this wait */
};

/* A time this many times as long as another makes that one negligible. */
#define OVERSHADOWS 6

/* ---- stalls ---- */

/* A cork, or a segment that gathers writes, waits for its own writer. A stall that made the writer
 * late is reported first, if it is a tenth as long. */
#define OWN_WEIGHT 0.1

static bool waits_for_own_writer(const struct finding *f)
{
	return f->cause == TX_CORK || f->blamed == BLAME_OWN_WRITES;
}

/* A congestion control that paces, as BBR does, paces whatever holds the connection up. Another
 * stall of the connection tells more, if it takes a third as long. */
#define PACING_WEIGHT (1.0 / 3)

static bool has_another_stall(const struct verdict *v, const struct finding *f)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].endpoint == f->endpoint && v->v[i].cause != f->cause &&
		    v->v[i].limit == LIMIT_NONE)
			return true;
	return false;
}

/* The send buffer is full because the path, which loses segments, empties it slowly. */
static bool fills_by_loss(const struct verdict *v, const struct finding *f)
{
	for (size_t i = 0; f->cause == TX_SNDBUF && f->blamed != BLAME_PEER_READER && i < v->n; i++)
		if (v->v[i].endpoint == f->endpoint && v->v[i].by_loss)
			return true;
	return false;
}

static double weight(const struct verdict *v, const struct finding *f)
{
	double ns = (double)f->all.ns;

	if (fills_by_loss(v, f))
		return ns * PACING_WEIGHT;

	if (f->cause == TX_PACING && f->blamed == BLAME_NOBODY && !f->by_loss &&
	    has_another_stall(v, f))
		return ns * PACING_WEIGHT;
	return ns * (waits_for_own_writer(f) ? OWN_WEIGHT : 1);
}

static bool is_consequence(const struct finding *f)
{
	return f->behind_wait || f->behind_limit;
}

bool judge_is_stall(const struct verdict *v, size_t i)
{
	return v->v[i].limit == LIMIT_NONE && !is_consequence(&v->v[i]);
}

/* Data within this host waits for a window, or for its turn, while the CPU is elsewhere. */
#define WAITS_FOR_TURN 0.1

static bool is_hosts_own(const struct finding *f)
{
	return f->sampled && f->within_host && f->blamed == BLAME_NOBODY && !f->by_loss &&
	       (f->cause == TX_CWND || f->cause == TX_PACING) &&
	       (double)f->all.ns < WAITS_FOR_TURN * (double)f->all.lifetime_ns;
}

/* Samples also find a stream at its limit in some other states. */
#define TRIFLING 10 /* part of the limit */

static bool is_trifling(const struct verdict *v, const struct finding *f)
{
	if (is_hosts_own(f))
		return true;
	for (size_t i = 0; f->surety == SUSPECTED && i < v->n; i++)
		if (v->v[i].endpoint == f->endpoint && v->v[i].limit != LIMIT_NONE &&
		    TRIFLING * f->ns <= v->v[i].ns)
			return true;
	return false;
}

/* The index of the heaviest stall, or limit; -1: none. */
static int heaviest(const struct verdict *v, bool limit)
{
	int at = -1;

	for (size_t i = 0; i < v->n; i++)
		if ((v->v[i].limit != LIMIT_NONE) == limit && !is_consequence(&v->v[i]) &&
		    (limit || !is_trifling(v, &v->v[i])) &&
		    (at < 0 || weight(v, &v->v[i]) > weight(v, &v->v[at])))
			at = (int)i;
	return at;
}

static uint64_t heaviest_ns(const struct verdict *v, bool limit)
{
	int at = heaviest(v, limit);

	return at < 0 ? 0 : v->v[at].all.ns;
}

/* A stall at most half as long as the full link of the same connection comes from that link's
 * queue: drops, and what a congestion control makes of them. */
static bool is_of_full_link(const struct finding *f, const struct finding *limit)
{
	return limit->limit == LIMIT_LINK && limit->all.ns >= DWARFS * f->all.ns &&
	       (f->cause == TX_PACING || f->cause == TX_CWND || f->cause == TX_RECOVERY ||
		f->cause == TX_SNDBUF);
}

/* A sender that has no CPU, or whose reader has none, is held back by the machine, and by no
 * protocol. But a reader that reads in small pieces needs too much CPU. */
static bool is_held_by_machine(const struct finding *f)
{
	return !f->small_reads &&
	       (f->blamed == BLAME_PEER_NO_CPU || f->blamed == BLAME_NO_CPU);
}

/* A limit of the same connection takes more of its time. */
static bool is_beside_limit(const struct verdict *v, const struct finding *f)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct finding *limit = &v->v[i];

		if (limit->endpoint != f->endpoint || limit->limit == LIMIT_NONE)
			continue;
		if (is_of_full_link(f, limit) ||
		    (is_held_by_machine(f) && limit->all.ns >= f->all.ns))
			return true;
	}
	return false;
}

/* The pace that a congestion control finds is that of the path. A reader that waits much longer
 * waits for that path. */
static bool is_dwarfed_pace(const struct verdict *v, const struct finding *f)
{
	return f->paced_by_itself && v->waits.ns > DWARFS * f->all.ns;
}

static enum rank rank_stall(const struct verdict *v)
{
	int at = heaviest(v, false);

	if (at < 0)
		return RANK_NONE;
	if (is_dwarfed_pace(v, &v->v[at]))
		return RANK_DWARFED;
	return is_beside_limit(v, &v->v[at]) ? RANK_BESIDE_LIMIT : RANK_STALL;
}

/* A limit that holds a sender up for a smaller share of its time does not set its pace. */
#define LIMIT_SHARE 0.2

static enum rank rank_limit(const struct verdict *v)
{
	int at = heaviest(v, true);

	return at >= 0 && finding_share(&v->v[at]) >= LIMIT_SHARE ? RANK_LIMIT : RANK_NONE;
}

static double share_of_lead(const struct verdict *v)
{
	return finding_share(&v->v[v->lead]);
}

/* ---- what stalls no sender that was seen ---- */

/* Data that cannot leave this host is retransmitted, too: a pulled cable shows as both. */
static enum rank rank_undelivered(const struct verdict *v)
{
	int at = heaviest(v, false);
	/* until the kernel notices that the link is down, what it drops is sent again */
	bool same = at >= 0 && (int)v->v[at].endpoint == v->undelivered.endpoint;
	uint64_t stall_ns = at < 0 ? 0 : v->v[at].all.ns;

	if (v->undelivered.endpoint < 0)
		return RANK_NONE;
	return v->undelivered.ns > (same ? 1 : DWARFS) * stall_ns ? RANK_OVERSHADOWS
								  : RANK_UNDELIVERED;
}

static double share_undelivered(const struct verdict *v)
{
	return v->undelivered.share;
}

static bool withheld_longer(const struct verdict *v)
{
	return v->late.endpoint < 0 || v->withheld.ns >= v->late.ns;
}

static enum rank rank_withheld(const struct verdict *v)
{
	if (v->withheld.endpoint < 0)
		return RANK_NONE;
	return withheld_longer(v) ? RANK_FIRST : RANK_SECOND;
}

static double share_withheld(const struct verdict *v)
{
	return v->withheld.share;
}

/* The server leaves a request unread for a while, and then thinks about it for longer. */
static bool is_part_of_answers(const struct verdict *v)
{
	const struct slow_answers *a = &v->answers;

	return a->endpoint == v->late.endpoint && a->requests.n &&
	       a->requests.think_ns > v->late_all.ns;
}

static enum rank rank_late(const struct verdict *v)
{
	if (v->late.endpoint < 0)
		return RANK_NONE;
	if (v->late_in_wait)
		return v->waits.requests.n ? RANK_NONE : RANK_DWARFED; /* the requests tell it */
	if (heaviest(v, false) >= 0) /* it has nothing to do with the stall: see is_apart() */
		return RANK_OVERSHADOWS;
	if (v->answers.ns > OVERSHADOWS * v->late_all.ns || is_part_of_answers(v))
		return RANK_DWARFED;
	return v->withheld.endpoint >= 0 && withheld_longer(v) ? RANK_SECOND : RANK_FIRST;
}

static double share_late(const struct verdict *v)
{
	return (double)v->late_all.ns / (double)v->late_all.lifetime_ns;
}

/* The machine is blamed only for what no end of a conversation did, or left undone. */
static enum rank rank_starved(const struct verdict *v)
{
	if (v->starved.endpoint < 0)
		return RANK_NONE;
	if (heaviest_ns(v, true) >= v->starved.ns)
		return RANK_BESIDE_LIMIT;
	return v->wait.endpoint >= 0 && v->waits.ns > DWARFS * v->starved.ns
		       ? RANK_DWARFED
		       : RANK_STARVED;
}

static double share_starved(const struct verdict *v)
{
	return v->starved.share;
}

/* No sender was held up. But the loss of more than a stray datagram is not healthy. */
static enum rank rank_loss(const struct verdict *v)
{
	return v->loss.endpoint >= 0 && !v->loss.stray ? RANK_LOSS : RANK_NONE;
}

static double share_loss(const struct verdict *v)
{
	return v->loss.share;
}

/* No finding explains them: a wait that is much longer tells more. */
static enum rank rank_scattered(const struct verdict *v)
{
	if (!v->scattered.ns)
		return RANK_NONE;
	return v->wait.endpoint >= 0 && v->waits.ns > DWARFS * v->scattered.ns ? RANK_ASIDE
									       : RANK_SCATTERED;
}

static double share_scattered(const struct verdict *v)
{
	return v->scattered.share;
}

/* ---- waits ---- */

/* A wait OVERSHADOWS times as long as a stall hides it, if the stall takes a smaller share than
 * these: of the sender's time, or of all the observed time. A stall that the machine caused is
 * hidden if it is less than half of the wait. */
#define TRIFLE_SHARE  0.1
#define TRIFLE_OF_ALL 0.15

static bool overshadows(const struct verdict *v, uint64_t wait_ns)
{
	int at = heaviest(v, false);
	const struct finding *f = at < 0 ? NULL : &v->v[at];

	if (!f)
		return false;
	if (is_held_by_machine(f) || v->end_held) /* only a repair ends such a wait */
		return wait_ns > DWARFS * f->all.ns;
	if (wait_ns < OVERSHADOWS * f->all.ns)
		return false;
	return finding_share(f) < TRIFLE_SHARE ||
	       (double)f->all.ns < TRIFLE_OF_ALL * (double)v->observed_ns;
}

/* A server that reads each request late does something else meanwhile: the ACK that a small segment
 * waits for does not hold it up. */
#define READS_LATE 2

static bool reads_later_than_it_is_held(const struct verdict *v)
{
	int at = heaviest(v, false);
	const struct finding *f = at < 0 ? NULL : &v->v[at];

	return f && f->cause == TX_NAGLE && v->waits.requests.n &&
	       v->waits.requests.unread_ns >= READS_LATE * f->all.ns;
}

static enum rank rank_any_wait(const struct verdict *v)
{
	if (v->wait.endpoint < 0)
		return RANK_NONE;
	return overshadows(v, v->waits.ns) || reads_later_than_it_is_held(v) ? RANK_OVERSHADOWS
									     : RANK_WAIT;
}

static enum rank rank_wait(const struct verdict *v)
{
	return v->mutual.endpoint < 0 ? rank_any_wait(v) : RANK_NONE;
}

static enum rank rank_mutual(const struct verdict *v)
{
	return v->mutual.endpoint >= 0 ? rank_any_wait(v) : RANK_NONE;
}

static double share_wait(const struct verdict *v)
{
	return waits_share(&v->first_waits);
}

static enum rank rank_unanswered(const struct verdict *v)
{
	return v->unanswered.endpoint >= 0 ? RANK_UNANSWERED : RANK_NONE;
}

/* It is unknown how long the client could have waited: it gives up when it likes. */
static double share_unanswered(const struct verdict *v)
{
	return NAN;
}

/* The longer of the two leads: connecting, or the wait after that. A program that waits all the
 * time for one that connects in vain waits for the connection. */
static enum rank rank_connect(const struct verdict *v)
{
	if (v->connect.endpoint < 0)
		return RANK_NONE;
	if (!v->connect.ns)
		return v->connect.rejected == REJECTED_REFUSED ? RANK_CONNECT : RANK_ASIDE;
	return v->connect.ns > v->waits.ns || v->connect.is_awaited ? RANK_CONNECT : RANK_DWARFED;
}

static double share_connect(const struct verdict *v)
{
	return v->connect.ns ? (double)v->connect.ns / (double)v->connect.lifetime_ns : NAN;
}

static enum rank rank_answers(const struct verdict *v)
{
	if (v->answers.endpoint < 0)
		return RANK_NONE;
	return overshadows(v, v->answers.ns) ? RANK_OVERSHADOWS : RANK_ANSWERS;
}

static double share_answers(const struct verdict *v)
{
	return (double)v->answers.ns / (double)v->answers.lifetime_ns;
}

/* ---- none of these ---- */

/* judge_own_call() decides it. */
static enum rank rank_opening(const struct verdict *v)
{
	return RANK_NONE;
}

static double share_opening(const struct verdict *v)
{
	return (double)asleep_in_call(v->doing, 0) / v->doing->samples;
}

/* If a tenth of the endpoints went unseen, it is unknown whether anything was held up. */
#define UNSEEN_PARTS 10

static enum rank rank_quiet(const struct verdict *v)
{
	if (UNSEEN_PARTS * v->n_unseen >= v->n_active && v->n_unseen)
		return RANK_NONE;
	return v->sent || (v->n_active && !v->n_unknown) ? RANK_QUIET : RANK_NONE;
}

static double share_quiet(const struct verdict *v)
{
	return v->lifetime_ns ? (double)v->stall_ns / (double)v->lifetime_ns : NAN;
}

static enum rank rank_unseen(const struct verdict *v)
{
	return RANK_UNSEEN;
}

static double share_unseen(const struct verdict *v)
{
	return NAN;
}

/* ---- the judge ---- */

static const struct {
	enum rank (*rank)(const struct verdict *v);
	double (*share)(const struct verdict *v);
	enum outcome outcome;
} kinds[KINDS_N] = {
	[KIND_STALL] = { rank_stall, share_of_lead, OUTCOME_STALLED },
	[KIND_LIMIT] = { rank_limit, share_of_lead, OUTCOME_HEALTHY },
	[KIND_UNDELIVERED] = { rank_undelivered, share_undelivered, OUTCOME_STALLED },
	[KIND_WITHHELD] = { rank_withheld, share_withheld, OUTCOME_STALLED },
	[KIND_LATE] = { rank_late, share_late, OUTCOME_WAITING },
	[KIND_STARVED] = { rank_starved, share_starved, OUTCOME_WAITING },
	[KIND_LOSS] = { rank_loss, share_loss, OUTCOME_STALLED },
	[KIND_SCATTERED] = { rank_scattered, share_scattered, OUTCOME_STALLED },
	[KIND_UNANSWERED] = { rank_unanswered, share_unanswered, OUTCOME_WAITING },
	[KIND_CONNECT] = { rank_connect, share_connect, OUTCOME_WAITING },
	[KIND_ANSWERS] = { rank_answers, share_answers, OUTCOME_WAITING },
	[KIND_MUTUAL] = { rank_mutual, share_wait, OUTCOME_WAITING },
	[KIND_WAIT] = { rank_wait, share_wait, OUTCOME_WAITING },
	[KIND_OPENING] = { rank_opening, share_opening, OUTCOME_WAITING },
	[KIND_QUIET] = { rank_quiet, share_quiet, OUTCOME_HEALTHY },
	[KIND_UNSEEN] = { rank_unseen, share_unseen, OUTCOME_UNKNOWN },
};

static bool waits_for_cpu(const struct verdict *v)
{
	return v->kind == KIND_STALL && is_held_by_machine(&v->v[v->lead]);
}

/* Its sender was not seen, but its send buffer is full. */
static bool stalls_its_sender(const struct verdict *v)
{
	return v->kind == KIND_LATE && v->late_is_full;
}

void judge(struct verdict *v)
{
	enum rank highest = RANK_NONE;
	int lead;

	for (enum finding_kind k = 0; k < KINDS_N; k++) {
		enum rank r = kinds[k].rank(v);

		if (r <= highest)
			continue;
		highest = r;
		v->kind = k;
	}
	lead = heaviest(v, v->kind == KIND_LIMIT);
	v->lead = lead < 0 ? 0 : (size_t)lead;
	v->outcome = waits_for_cpu(v)	    ? OUTCOME_WAITING
		     : stalls_its_sender(v) ? OUTCOME_STALLED
					    : kinds[v->kind].outcome;
	v->share = kinds[v->kind].share(v);
}

bool judge_found(const struct verdict *v, enum finding_kind k)
{
	return kinds[k].rank(v) != RANK_NONE;
}

bool judge_also_tells_wait(const struct verdict *v)
{
	bool stall = v->kind == KIND_STALL || v->kind == KIND_LIMIT,
	     nothing = v->kind == KIND_SCATTERED || v->kind == KIND_QUIET || v->kind == KIND_UNSEEN;

	return v->wait.endpoint >= 0 && (stall || nothing);
}

void judge_own_call(struct verdict *v)
{
	if ((v->kind != KIND_QUIET && v->kind != KIND_UNSEEN) || v->n_unseen || !v->doing ||
	    !asleep_opens(v->doing))
		return;
	if (v->kind == KIND_QUIET && v->doing->v[0].opens_fifo) /* perhaps for its next command */
		return;
	v->kind = KIND_OPENING;
	v->outcome = kinds[v->kind].outcome;
	v->share = kinds[v->kind].share(v);
}
