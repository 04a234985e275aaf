// SPDX-License-Identifier: GPL-2.0-only
#include <sys/param.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "top/loop.h"
#include "top/keys.h"
#include "top/pace.h"
#include "top/term.h"

struct run {
	struct top_loop *l;
	struct rows p;
	struct trace_digests spare;
	struct canvas c;
	struct timeline shown; /* a copy of the recent steps, for drawing */
	struct opened opened;
	struct pace pace;
	uint64_t next_ns, samples;
	bool quit;
};

void recent_step(struct recent *r, const struct trace_transition *tr)
{
	pthread_mutex_lock(&r->lock);
	timeline_add(&r->kept, tr);
	pthread_mutex_unlock(&r->lock);
}

static void recent_clear(struct recent *r)
{
	size_t max = r->kept.max;

	pthread_mutex_lock(&r->lock);
	timeline_free(&r->kept);
	r->kept = (struct timeline){ .max = max };
	pthread_mutex_unlock(&r->lock);
}

static void recent_copy(struct recent *r, struct timeline *to)
{
	timeline_free(to);
	pthread_mutex_lock(&r->lock);
	*to = (struct timeline){ .max = r->kept.max };
	for (size_t i = 0; i < r->kept.n; i++)
		timeline_add(to, timeline_at(&r->kept, i));
	pthread_mutex_unlock(&r->lock);
}

static void reorder(struct run *r)
{
	struct screen *s = &r->l->screen;

	rows_order(&r->p, s->sort, s->reverse, s->active, s->filter);
	screen_follow(s, &r->p);
}

/* Makes the card anew; without a snapshot or memory the old card stays. */
static void judge(struct run *r)
{
	const struct top_loop *l = r->l;
	uint64_t serial = l->screen.picked;
	struct trace_snapshot now = {};

	if (l->screen.view != VIEW_DETAIL || l->screen.paused)
		return;
	if ((!l->ledgers || l->ledgers(l->steps, &now, &serial)) &&
	    trace_snapshot(l->t, &now, &(struct err){}))
		return;
	opened_look(&r->opened, &now, serial);
	trace_snapshot_free(&now);
}

/* The details of an endpoint are refreshed at the requested interval, without the CPU limit. */
static uint64_t interval(const struct run *r)
{
	const struct screen *s = &r->l->screen;

	return s->view == VIEW_DETAIL ? s->delay_ns : pace_interval(&r->pace, s->delay_ns);
}

/* While the screen is paused, the endpoints are still read and their figures dropped, so that
 * closed endpoints do not pile up. */
static int look(struct run *r, struct err *e)
{
	struct screen *s = &r->l->screen;
	time_t now = time(NULL);
	struct tm tm;

	judge(r); /* before the reading, which forgets closed endpoints */
	if (trace_digests_take(r->l->t, &r->spare, e))
		return -1;
	r->samples++;
	if (s->paused)
		return 0;
	if (rows_take(&r->p, &r->spare))
		return err_resource(e, "top: no memory for %zu endpoints; trace fewer", r->spare.n);
	strftime(s->clock, sizeof(s->clock), "%H:%M:%S", localtime_r(&now, &tm));
	recent_copy(r->l->recent, &r->shown);
	reorder(r);
	return 0;
}

static const struct trace_digest *picked(const struct run *r)
{
	const struct screen *s = &r->l->screen;
	uint32_t at = s->view == VIEW_DETAIL ? row_find(&r->p, s->picked) : ROW_NEW;

	return at == ROW_NEW ? NULL : row_digest(&r->p, &r->p.v[at]);
}

static const struct trace_digest *picked_peer(const struct run *r)
{
	uint32_t at = picked(r) ? row_find(&r->p, r->l->screen.picked) : ROW_NEW;

	return at == ROW_NEW ? NULL : row_peer(&r->p, &r->p.v[at]);
}

static int draw(struct run *r)
{
	int w, h;

	if (term_size(&w, &h) || w != r->c.w || h != r->c.h)
		if (canvas_resize(&r->c, w, h))
			return -1;
	screen_draw(&r->l->screen, &r->p, &r->c);
	return term_show(&r->c);
}

/* Selects the endpoint whose steps are reported. Loading the ledger's programs takes a second or
 * more, so the screen says first that they are being attached. */
static bool follow_steps(struct run *r)
{
	struct screen *s = &r->l->screen;
	bool known;

	if (!r->l->steps_of) {
		trace_timeline_of(r->l->t, s->view == VIEW_DETAIL ? s->picked : 0);
		return true;
	}
	r->opened.attaching = s->view == VIEW_DETAIL;
	if (r->opened.attaching)
		draw(r);
	known = r->l->steps_of(r->l->steps, picked(r), picked_peer(r));
	r->opened.attaching = false;
	return known;
}

static void look_at(struct run *r)
{
	recent_clear(r->l->recent);
	timeline_free(&r->shown);
	r->shown = (struct timeline){};
	opened_clear(&r->opened);
	r->l->screen.since_ns = follow_steps(r) ? now_ns() : UINT64_MAX;
	judge(r);
	r->next_ns = MIN(r->next_ns, now_ns() + interval(r)); /* the list's may be far off */
}

/* The terminal belongs to the child process while it tries a fix. */
static void try_fix(struct run *r, struct err *e)
{
	uint32_t i = row_find(&r->p, r->l->screen.picked);

	if (i == ROW_NEW || !r->l->try_fix)
		return;
	term_give_back();
	r->l->try_fix(row_digest(&r->p, &r->p.v[i]));
	r->quit = term_take(e) != 0;
}

static void act(struct run *r, enum screen_action a, struct err *e)
{
	if (a == SCREEN_QUIT)
		r->quit = true;
	else if (a == SCREEN_TRY)
		try_fix(r, e);
	else if (a == SCREEN_REORDER)
		reorder(r);
	else if (a == SCREEN_LOOK_AT)
		look_at(r);
}

/* Handles keys until the next refresh is due. */
static int keys_until(struct run *r, struct err *e)
{
	while (!r->quit && !r->l->ended(r->l->ctx) && now_ns() < r->next_ns) {
		int key = term_key(r->next_ns);

		if (key == TERM_GONE || draw(r))
			return err_set(
				e, EXIT_IO,
				"top: the terminal is gone; use another one, or --batch");
		if (key == TERM_TIMEOUT)
			continue;
		act(r, screen_key(&r->l->screen, &r->p, key), e);
		if (r->quit)
			break;
		if (draw(r))
			return err_set(
				e, EXIT_IO,
				"top: the terminal is gone; use another one, or --batch");
	}
	return 0;
}

static int paced_look(struct run *r, struct err *e)
{
	int rc;

	pace_begin(&r->pace);
	rc = look(r, e);
	pace_end(&r->pace);
	r->l->screen.interval_ns = interval(r);
	return rc;
}

static int refresh(struct run *r, struct err *e)
{
	uint64_t delay = r->samples ? interval(r) : 0;

	/* the first interval is short, so that the screen is not empty for long */
	if (r->samples == 1 && delay > 300000000)
		delay = 300000000;
	r->next_ns = now_ns() + delay;
	if (keys_until(r, e) || r->quit || r->l->ended(r->l->ctx))
		return -1;
	if (paced_look(r, e) ||
	    (draw(r) &&
	     err_set(e, EXIT_IO, "top: the terminal is gone; use another one, or --batch")))
		return -1;
	return r->l->iterations && r->samples > r->l->iterations ? -1 : 0;
}

int top_loop_run(struct top_loop *l, struct err *e)
{
	struct run r = { .l = l, .pace.limit = l->cpu_limit };

	l->screen.recent = &r.shown;
	l->screen.opened = &r.opened;
	r.c.no_colour = !paint_on(stdout, COLOUR_AUTO).colour;
	if (term_take(e))
		return -1;
	while (refresh(&r, e) == 0)
		;
	term_give_back();
	trace_digests_free(&r.spare);
	rows_free(&r.p);
	canvas_free(&r.c);
	timeline_free(&r.shown);
	opened_clear(&r.opened);
	return err_is_set(e) ? -1 : 0;
}
