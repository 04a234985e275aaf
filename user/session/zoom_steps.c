// SPDX-License-Identifier: GPL-2.0-only
#include "session/zoom_steps.h"

#include <string.h>

static void on_transition(void *ctx, const struct trace_transition *tr)
{
	struct zoom_steps *z = ctx;
	struct trace_transition here = *tr;

	here.serial = z->serial;
	z->step(z->ctx, &here);
}

static bool load(struct zoom_steps *z)
{
	struct trace_options o = *z->filter;
	struct err e = {};

	if (z->loaded)
		return true;
	o.samples = false;
	o.timeline = TRACE_TIMELINE_ONE;
	o.on_transition = on_transition;
	o.on_stall = NULL;
	o.ctx = z;
	z->loaded = !zoom_prepare(&z->zoom, &o, 1, &e);
	return z->loaded;
}

static bool same_address(const struct trace_addr *a, const struct trace_addr *b)
{
	return a->port == b->port && !memcmp(a->ip, b->ip, sizeof(a->ip));
}

/* Two sessions number their endpoints differently. */
static bool is_same(const struct trace_endpoint *a, const struct trace_digest *b)
{
	if (a->proto != b->proto || a->netns != b->netns)
		return false;
	if (a->proto == TRACE_TCP)
		return same_address(&a->local, &b->local) && same_address(&a->remote, &b->remote);
	return a->inode == b->inode;
}

static bool follow(struct zoom_steps *z, const struct trace_digest *e)
{
	struct trace_snapshot s;
	bool found = false;

	if (trace_snapshot(z->zoom.t, &s, &(struct err){}))
		return false;
	for (size_t i = 0; i < s.n && !found; i++)
		if (!s.ep[i].closed && is_same(&s.ep[i], e)) {
			z->here = s.ep[i].serial;
			trace_timeline_of(z->zoom.t, z->here);
			found = true;
		}
	trace_snapshot_free(&s);
	return found;
}

static void stop(struct zoom_steps *z)
{
	if (z->on)
		trace_stop(z->zoom.t);
	z->on = false;
	z->here = 0;
}

enum { ENDS_MOST = 4 };

static size_t add_pid(pid_t pids[ENDS_MOST], size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return n;
	if (pid > 0)
		pids[n++] = pid;
	return n;
}

static size_t programs_of(const struct trace_digest *e, pid_t pids[ENDS_MOST], size_t n)
{
	return e ? add_pid(pids, add_pid(pids, n, e->tx_tgid), e->rx_tgid) : n;
}

bool zoom_steps_of(struct zoom_steps *z, const struct trace_digest *e,
		   const struct trace_digest *peer)
{
	struct err failed = {};
	pid_t pids[ENDS_MOST];
	size_t n;

	stop(z);
	if (!e || !load(z))
		return false;
	n = programs_of(peer, pids, programs_of(e, pids, 0));
	z->serial = e->serial;
	if (!n)
		return false;
	if (trace_retarget(z->zoom.t, pids, n, &failed) || trace_start(z->zoom.t, &failed)) {
		trace_stop(z->zoom.t);
		return false;
	}
	z->on = true;
	return follow(z, e);
}

int zoom_steps_ledgers(struct zoom_steps *z, struct trace_snapshot *s, uint64_t *serial)
{
	if (!z->on || !z->here || trace_snapshot(z->zoom.t, s, &(struct err){}))
		return -1;
	*serial = z->here;
	return 0;
}

void zoom_steps_end(struct zoom_steps *z)
{
	stop(z);
	if (z->loaded)
		zoom_free(&z->zoom);
	z->loaded = false;
}
