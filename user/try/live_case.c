// SPDX-License-Identifier: GPL-2.0-only
#include "try/live_case.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/progress.h"

enum { WANTED_MESSAGES = 20, TURN_MS = 50, NEW_TURN_MS = 5 };

#define LOOK_LEAST_NS	1000000000ull
#define WINDOW_LEAST_NS 100000000ull
#define WINDOW_MOST_NS	2000000000ull
#define SETTLE_NS	50000000ull
#define GRACE_NS \
	2000000000ull /* a fix may outlast its window by this, before the guardian puts the option \
			 back */

static void sleep_ms(uint64_t ms)
{
	poll(NULL, 0, (int)ms);
}

/* --- looking ---------------------------------------------------------------------------------- */

static const struct finding *root_of(const struct verdict *v)
{
	const struct finding *f = v->n && v->kind != KIND_LIMIT ? &v->v[v->lead] : NULL;

	return f && f->root >= 0 ? &v->v[f->root] : f;
}

static bool may_go_on(const struct trace_options *filter)
{
	return !session_interrupted() && targets_any_alive(filter);
}

static int sample_once(struct live_case *c, struct err *e)
{
	trace_snapshot_free(&c->seen);
	if (session_snapshot(&c->live, &c->seen, e))
		return -1;
	verdict_make(&c->seen, &c->verdict);
	c->finding = root_of(&c->verdict);
	return 0;
}

int case_look(struct live_case *c, const struct trace_options *filter, struct err *e)
{
	uint64_t began = now_ns();

	do {
		sleep_ms(250);
		if (sample_once(c, e))
			return -1;
		if (c->finding && now_ns() - began >= LOOK_LEAST_NS)
			break;
	} while (now_ns() - began < (uint64_t)c->o->look_ns && may_go_on(filter));
	c->interrupted = session_interrupted();
	if (!c->finding)
		c->outcome = c->verdict.sent ? CASE_NO_STALL : CASE_NOTHING_SEEN;
	return 0;
}

/* --- planning --------------------------------------------------------------------------------- */

static int not_run(struct live_trial *t, const char *why)
{
	t->outcome = TRIAL_NOT_RUN;
	if (why)
		snprintf(t->why_not, sizeof(t->why_not), "%s", why);
	return 0;
}

static int refused(const struct live_case *c, int err, struct err *e)
{
	errno = -err;
	return err_sys(e, EXIT_NO_PERM,
		       "run as root, or as its user where kernel.yama.ptrace_scope is 0",
		       "try: may not reach the descriptors of process %d", c->scope.tgid);
}

/* Gives the guardian the descriptors of the lanes from `first` on. -1: no permission. */
static int enlist(struct live_case *c, struct live_trial *t, const struct trace_snapshot *s,
		  size_t first, int *last_err, struct err *e)
{
	for (size_t i = first; i < c->scope.n; i++) {
		struct fd_ref ref;
		struct saved was = {};
		int err = scope_descriptor(&c->scope, s, i, t->fix->at_peer, &ref);

		if (!err)
			err = guardian_add(&c->guardian, &ref, &was, e);
		if (err == -EPIPE)
			return -1;
		if (err == -EPERM || err == -EACCES)
			return refused(c, err, e);
		if (!err && !t->descriptors++)
			saved_text(t->setting, &was, t->before, sizeof(t->before));
		if (err)
			*last_err = err;
	}
	return 0;
}

static const char *why_none(const struct live_trial *t, int err)
{
	if (err == 1)
		return "it would change nothing there";
	if (t->fix->at_peer)
		return "the end that receives is not on this host, or in another network namespace";
	return err == -ENOENT ? "no process has the descriptor any more" : strerror(-err);
}

/* Whether, as far as can be seen, undoing the option leaves no trace on any of the descriptors. */
static bool all_undoable(struct live_case *c, const struct live_trial *t)
{
	bool all = t->setting->undoable && c->scope.n;

	for (size_t i = 0; all && i < c->scope.n; i++) {
		struct fd_ref ref;
		int fd = scope_descriptor(&c->scope, &c->seen, i, t->fix->at_peer, &ref);

		if (!fd)
			fd = fd_ref_open(&ref);
		if (fd < 0)
			continue;
		all = t->setting->undoable(fd);
		close(fd);
	}
	return all;
}

static int plan_one(struct live_case *c, const struct live_fix *fix, struct err *e)
{
	struct live_trial *t = &c->trials[c->n++];
	int err = -ENOENT;

	*t = (struct live_trial){ .fix = fix,
				  .setting = setting_find(fix->setting),
				  .outcome = TRIAL_NOISY };
	if (t->setting->not_undone && !c->o->irreversible && !all_undoable(c, t)) {
		snprintf(t->why_not, sizeof(t->why_not), "%s; --irreversible tries it",
			 t->setting->not_undone);
		return not_run(t, NULL);
	}
	if (guardian_take(&c->guardian, t->setting, e) || enlist(c, t, &c->seen, 0, &err, e))
		return -1;
	return t->descriptors ? 0 : not_run(t, why_none(t, err));
}

static size_t chosen(const struct live_case *c, const struct live_fix *out[LIVE_FIXES_MAX])
{
	const struct str_list *names = &c->o->fixes;

	if (!names->n)
		return live_fixes_for(c->finding, c->scope.proto, out);
	for (size_t i = 0; i < names->n; i++)
		out[i] = live_fix_find(names->v[i]);
	return names->n;
}

/* A window long enough for WANTED_MESSAGES at their present rate. */
static uint64_t window_for(const struct live_case *c)
{
	const struct trace_endpoint *ep = &c->seen.ep[c->finding->endpoint];
	double each = (double)ep->tx.lifetime_ns /
		      (double)(ep->tx_calls.messages ? ep->tx_calls.messages : 1);
	uint64_t want = (uint64_t)fmin(each * WANTED_MESSAGES, (double)WINDOW_MOST_NS);

	if (c->o->window_ns)
		return (uint64_t)c->o->window_ns;
	return want < WINDOW_LEAST_NS ? WINDOW_LEAST_NS : want;
}

int case_plan(struct live_case *c, struct err *e)
{
	const struct live_fix *fixes[LIVE_FIXES_MAX];
	size_t n, run = 0;

	if (!c->finding)
		return 0;
	scope_choose(&c->scope, &c->seen, c->finding, c->o->with_new);
	c->window_ns = window_for(c);
	n = chosen(c, fixes);
	for (size_t i = 0; i < n; i++) {
		if (plan_one(c, fixes[i], e))
			return -1;
		run += c->trials[i].outcome != TRIAL_NOT_RUN;
	}
	c->outcome = run ? CASE_TRIED : CASE_NO_FIX;
	return 0;
}

/* --- trying ----------------------------------------------------------------------------------- */

/* Sets the fix on connections that the program opened meanwhile, too. */
static int take_new(struct live_case *c, struct live_trial *t, uint64_t at_most, struct err *e)
{
	struct trace_snapshot s;
	struct changed_result r;
	size_t first;
	int err = 0, rc;

	if (session_snapshot(&c->live, &s, e))
		return -1;
	first = scope_extend(&c->scope, &s);
	rc = enlist(c, t, &s, first, &err, e);
	trace_snapshot_free(&s);
	return rc || first == c->scope.n ? rc : guardian_set(&c->guardian, at_most, &r, e);
}

/* -1: an error; 1: interrupted, the program ended, or the time for this fix is over */
static int wait_ns(struct live_case *c, struct live_trial *t, const struct trace_options *filter,
		   uint64_t ns, bool fixed, struct err *e)
{
	uint64_t end = now_ns() + ns, now;
	bool new = fixed && c->o->with_new;

	while ((now = now_ns()) < end) {
		uint64_t left_ms = (end - now) / 1000000 + 1, turn = new ? NEW_TURN_MS : TURN_MS;

		if (!may_go_on(filter) || now >= c->deadline)
			return 1;
		sleep_ms(left_ms < turn ? left_ms : turn);
		if (new &&take_new(c, t, end - now + GRACE_NS, e))
			return -1;
	}
	return 0;
}

static int mark(struct live_case *c, struct mark *m, struct err *e)
{
	struct trace_snapshot s;

	if (c->unwatched) {
		*m = scope_count(&c->scope);
		return 0;
	}
	if (session_snapshot(&c->live, &s, e))
		return -1;
	scope_extend(&c->scope, &s);
	*m = scope_mark(&c->scope, &s);
	trace_snapshot_free(&s);
	return 0;
}

static int measure(struct live_case *c, struct live_trial *t, const struct trace_options *filter,
		   struct window *w, bool fixed, struct err *e)
{
	struct mark from, to;
	int rc = wait_ns(c, t, filter, SETTLE_NS, fixed, e);

	if (!rc)
		rc = mark(c, &from, e);
	if (!rc)
		rc = wait_ns(c, t, filter, c->window_ns, fixed, e);
	if (!rc)
		rc = mark(c, &to, e);
	if (rc)
		return rc;
	*w = window_between(&from, &to);
	if (!c->unwatched)
		t->messages_known = to.messages_known;
	return to.alive || c->o->with_new ? 0 : 1;
}

/* Measures one window. The option is put back whatever becomes of the window. */
static int one_window(struct live_case *c, struct live_trial *t, const struct trace_options *filter,
		      struct window *w, bool fixed, struct err *e)
{
	struct changed_result r = {};
	int rc;

	if (!fixed)
		return measure(c, t, filter, w, false, e);
	if (guardian_set(&c->guardian, c->window_ns + GRACE_NS, &r, e))
		return -1;
	rc = r.done || c->o->with_new ? measure(c, t, filter, w, true, e) : 1;
	if (guardian_undo(&c->guardian, &r, e))
		return -1;
	t->gone = (size_t)r.gone;
	c->undone &= !r.err;
	return rc;
}

static int one_round(struct live_case *c, struct live_trial *t, const struct trace_options *filter,
		     struct trial_round *r, struct err *e)
{
	int rc = 0;

	for (int i = 0; i < TRIAL_WINDOWS; i++)
		r->order[i] = i;
	rng_shuffle(&c->rng, r->order, TRIAL_WINDOWS, sizeof(r->order[0]));
	for (int i = 0; !rc && i < TRIAL_WINDOWS; i++)
		rc = one_window(c, t, filter, &r->w[r->order[i]], r->order[i] == TRIAL_WINDOWS - 1,
				e);
	return rc;
}

static size_t to_run(const struct live_case *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->trials[i].outcome != TRIAL_NOT_RUN;
	return n;
}

static int run_rounds(struct live_case *c, struct live_trial *t, const struct trace_options *filter,
		      struct trial_round *rounds, size_t *n, struct err *e)
{
	size_t all = (size_t)c->o->windows;
	int rc = 0;

	while (!rc && *n < all) {
		progress_show(c->o->live.quiet, *n + 1, all, t->fix->setting, -1);
		rc = one_round(c, t, filter, &rounds[*n], e);
		*n += !rc;
	}
	progress_clear(c->o->live.quiet);
	return rc;
}

enum { ROUNDS_LEAST = 4 };

static bool countable(const struct live_case *c, const struct live_trial *t)
{
	return c->scope.proto == TRACE_TCP || trial_sends_all_it_writes(t);
}

/* The ledger makes each message cost more, so the gain is measured again without the ledger, if the
 * kernel counts what arrives. With --new that is impossible: only the ledger sees connections come
 * and go. */
static int measure_unwatched(struct live_case *c, struct live_trial *t,
			     const struct trace_options *filter, struct err *e)
{
	if (t->outcome != TRIAL_PROVEN || t->by_stall || !countable(c, t) || c->o->with_new ||
	    !may_go_on(filter))
		return 0;
	trace_stop(c->live.t);
	c->unwatched = true;
	if (run_rounds(c, t, filter, t->unwatched, &t->n_unwatched, e) < 0)
		return -1;
	if (t->n_unwatched >= ROUNDS_LEAST)
		trial_judge_unwatched(t, to_run(c), &c->rng);
	else
		t->n_unwatched = 0;
	return 0;
}

static const char *why_too_few(const struct live_case *c, const struct trace_options *filter)
{
	if (session_interrupted())
		return "it was interrupted before there was enough to judge";
	if (targets_any_alive(filter) && now_ns() >= c->deadline)
		return "time ran out before there were enough windows; give a longer --for or a "
		       "shorter --window";
	return "the program, or its connections, ended before there was enough to judge; --new "
	       "follows new ones";
}

/* Planning left the descriptors of the last fix with the guardian, so this fix's are given to it
 * again. */
static int try_one(struct live_case *c, struct live_trial *t, const struct trace_options *filter,
		   struct err *e)
{
	struct trace_snapshot s;
	int err = 0, rc;

	t->descriptors = 0;
	c->deadline = now_ns() + (uint64_t)c->o->for_ns;
	if (guardian_take(&c->guardian, t->setting, e))
		return -1;
	if (session_snapshot(&c->live, &s, e))
		return -1;
	rc = enlist(c, t, &s, 0, &err, e);
	trace_snapshot_free(&s);
	if (rc || !t->descriptors)
		return rc ? rc : not_run(t, why_none(t, err));
	if (run_rounds(c, t, filter, t->rounds, &t->n, e) < 0)
		return -1;
	if (t->n < ROUNDS_LEAST)
		return not_run(t, why_too_few(c, filter));
	trial_judge(t, to_run(c), &c->rng);
	return measure_unwatched(c, t, filter, e);
}

/* Tries a fix, or notes why it is not tried. */
static int run_one(struct live_case *c, struct live_trial *t, const struct trace_options *filter,
		   bool proven, struct err *e)
{
	if (t->outcome == TRIAL_NOT_RUN)
		return 0;
	if (proven)
		return not_run(t, "another fix is already proven");
	if (c->unwatched)
		return not_run(t, "the ledger is already detached; try this fix alone, with --fix");
	return may_go_on(filter) ? try_one(c, t, filter, e) : not_run(t, why_too_few(c, filter));
}

int case_run(struct live_case *c, const struct trace_options *filter, struct err *e)
{
	bool proven = false;
	int rc = 0;

	c->undone = true;
	for (size_t i = 0; !rc && i < c->n; i++) {
		rc = run_one(c, &c->trials[i], filter, proven, e);
		proven |= c->trials[i].outcome == TRIAL_PROVEN;
	}
	c->interrupted = session_interrupted();
	return rc;
}

void case_free(struct live_case *c)
{
	guardian_end(&c->guardian);
	trace_snapshot_free(&c->seen);
	session_free(&c->live);
}
