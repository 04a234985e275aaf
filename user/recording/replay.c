// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "base/array.h"
#include "recording/recording.h"
#include "recording/relink.h"

/* the first pass through the file: every endpoint's last figures */
struct last {
	struct endpoints closed, live;
	struct trace_snapshot newest; /* its times and counters */
	struct trace_counters gone;   /* of closed endpoints that were not kept */
	endpoint_filter want;
	void *ctx;
	bool no_memory;
};

static uint64_t peer_serial(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return ep->peer >= 0 && (size_t)ep->peer < s->n ? s->ep[ep->peer].serial : 0;
}

/* Adds the endpoint to the closed or to the live ones. If there are too many closed ones, the half
 * that stalled less is dropped first. */
static bool keep(struct endpoints *closed, struct endpoints *live, const struct trace_snapshot *s,
		 const struct trace_endpoint *ep, struct last *l, struct trace_counters *gone)
{
	if (ep->closed && closed->n >= CLOSED_KEPT &&
	    endpoints_drop(closed, l ? l->want : NULL, l ? l->ctx : NULL, gone))
		return false;
	return endpoints_add(ep->closed ? closed : live, ep, peer_serial(s, ep));
}

static void keep_last(void *ctx, const struct trace_snapshot *s)
{
	struct last *l = ctx;

	if (l->no_memory)
		return;
	if (s->at_ns) { /* 0: only endpoints that closed after the last snapshot */
		endpoints_clear(&l->live);
		l->newest = *s;
	}
	for (size_t i = 0; i < s->n; i++)
		l->no_memory |= !keep(&l->closed, &l->live, s, &s->ep[i], l, &l->gone);
}

bool replay_wants(const struct replay *p, uint64_t serial)
{
	return !p->wanted ||
	       (p->n_wanted && bsearch(&serial, p->wanted, p->n_wanted, sizeof(serial), order_u64));
}

/* Chooses the wanted endpoints and their other ends: a verdict needs both. */
static int choose(struct replay *p, endpoint_filter want, void *ctx)
{
	const struct trace_snapshot *s = &p->end;

	p->wanted = array_new(2 * s->n, 1, sizeof(*p->wanted));
	if (!p->wanted)
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		uint64_t peer = peer_serial(s, &s->ep[i]);

		if (!want(ctx, &s->ep[i]))
			continue;
		p->wanted[p->n_wanted++] = s->ep[i].serial;
		if (peer)
			p->wanted[p->n_wanted++] = peer;
	}
	qsort(p->wanted, p->n_wanted, sizeof(*p->wanted), order_u64);
	return 0;
}

/* Keeps only the wanted endpoints, and finds their peers again; *out is new memory. -1: no memory.
 */
static int replay_filter(const struct replay *p, const struct trace_snapshot *s,
			 struct trace_snapshot *out)
{
	struct endpoints kept = {}, none = {};
	bool ok = true;
	int rc;

	*out = *s;
	out->ep = NULL;
	out->details = (struct trace_details){};
	for (size_t i = 0; ok && i < s->n; i++)
		if (replay_wants(p, s->ep[i].serial))
			ok = endpoints_add(&kept, &s->ep[i], peer_serial(s, &s->ep[i]));
	rc = ok ? endpoints_join(&kept, &none, out) : -1;
	endpoints_free(&kept);
	return rc;
}

/* The file does not say whose the dropped endpoints were, so these sums are unknown for a choice of
 * endpoints. */
static void forget_dropped(struct trace_counters *c)
{
	c->dropped_stall_ns = c->dropped_lifetime_ns = 0;
}

int replay_so_far(struct replay *p, const struct trace_snapshot *s, struct trace_snapshot *out)
{
	struct endpoints live = {};
	bool ok = true;
	int rc;

	*out = *s;
	out->ep = NULL;
	out->details = (struct trace_details){};
	for (size_t i = 0; ok && i < s->n; i++)
		ok = !replay_wants(p, s->ep[i].serial) ||
		     keep(&p->gone, &live, s, &s->ep[i], NULL, &p->dropped);
	if (p->wanted)
		forget_dropped(&out->counters);
	counters_add_dropped(&out->counters, &p->dropped);
	rc = ok ? endpoints_join(&p->gone, &live, out) : -1;
	endpoints_free(&live);
	return rc;
}

static void keep_stall(void *ctx, const struct stall *s)
{
	struct replay *p = ctx;

	if (replay_wants(p, s->s.serial))
		stalls_add(&p->stalls, s);
}

static void keep_transition(void *ctx, const struct trace_transition *tr)
{
	struct replay *p = ctx;

	if (replay_wants(p, tr->serial))
		timeline_add(&p->timeline, tr);
}

static int first_way(const struct recording *r, endpoint_filter want, void *ctx, struct replay *p,
		     struct err *e)
{
	struct last last = { .want = want, .ctx = ctx };
	struct recording_visitor v = { .ctx = &last, .on_snapshot = keep_last };
	int rc = recording_walk(r, &v, &p->state, e);

	if (rc == 0) {
		p->end = last.newest;
		p->end.ep = NULL;
		p->end.details = (struct trace_details){};
		if (want)
			forget_dropped(&p->end.counters);
		counters_add_dropped(&p->end.counters, &last.gone);
		if (last.no_memory || endpoints_join(&last.closed, &last.live, &p->end))
			rc = err_resource(e, "%s: out of memory during replay; free some", r->path);
	}
	endpoints_free(&last.closed);
	endpoints_free(&last.live);
	return rc;
}

static int apply_filter(const struct recording *r, endpoint_filter want, void *ctx,
			struct replay *p, struct err *e)
{
	struct trace_snapshot kept;

	if (!want)
		return 0;
	if (choose(p, want, ctx) || replay_filter(p, &p->end, &kept))
		return err_resource(e, "%s: no memory to replay it; free some", r->path);
	trace_snapshot_free(&p->end);
	p->end = kept;
	return 0;
}

int replay_load(const struct recording *r, endpoint_filter want, void *ctx, size_t timeline_max,
		struct replay *out, struct err *e)
{
	struct recording_visitor v = { .ctx = out, .on_stall = keep_stall,
		.on_transition = keep_transition, .texts = &out->stalls };

	*out = (struct replay){ .stalls.max = STALLS_KEPT, .timeline.max = timeline_max };
	if (first_way(r, want, ctx, out, e) || apply_filter(r, want, ctx, out, e))
		return -1;
	json_decref(out->state.head);
	if (recording_walk(r, &v, &out->state, e))
		return -1;
	out->end.counters.stacks_lost += stalls_texts_lost(&out->stalls);
	return 0;
}

void replay_free(struct replay *p)
{
	json_decref(p->state.head);
	trace_snapshot_free(&p->end);
	stalls_free(&p->stalls);
	timeline_free(&p->timeline);
	free(p->wanted);
	endpoints_free(&p->gone);
	*p = (struct replay){};
}
