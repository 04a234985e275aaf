// SPDX-License-Identifier: GPL-2.0-only
/* Turns the kernel's records into the structs of trace.h: settles every endpoint, reads it until
 * the copy is of one moment, and joins it to its peer. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "tracer/endpoint_detail.h"
#include "tracer/peers.h"
#include "tracer/closed_sums.h"

#define READ_TRIES 64
#define READ_AT_ONCE \
	4 /* so many; then whoever is in the midst of a step, off its CPU perhaps, is given time \
	   */

#define RESTARTS 8 /* of a walk in a map that others change all the time */

/* Lists all keys first. If a key is deleted during the walk, htab_map_get_next_key() restarts at
 * the first bucket, so duplicates are removed. */
static size_t list_keys(int fd, uint64_t *keys, size_t max)
{
	uint64_t prev, key, *from = NULL;
	size_t n = 0;

	for (size_t steps = 0; steps < RESTARTS * max && !bpf_map_get_next_key(fd, from, &key);
	     steps++) {
		n = n < max ? n : array_unique(keys, n);
		if (n == max)
			break;
		keys[n++] = prev = key;
		from = &prev;
	}
	return array_unique(keys, n);
}

size_t snapshot_keys(const struct trace *t, uint64_t *keys, size_t max)
{
	return list_keys(t->keys_fd, keys, max);
}

/* Has the kernel half settle the endpoint, so that nothing that it finds later reaches back
 * before this moment. */
static void settle(const struct trace *t, uint64_t key)
{
	snapshot_run(t->settle_fd, key, 0);
}

/* Copies an endpoint. False: it is gone, and its place may belong to another one already. */
bool snapshot_copy(const struct trace *t, uint64_t key, struct endpoint *ep)
{
	uint32_t place;

	if (t->hashed)
		return !bpf_map_lookup_elem(t->endpoints_fd, &key, ep);
	return !bpf_map_lookup_elem(t->keys_fd, &key, &place) &&
	       !bpf_map_lookup_elem(t->endpoints_fd, &place, ep) && ep->key == key;
}

/* The kernel swaps the word first and adds the time afterwards, so a copy taken in between is
 * repeated. */
static bool read_endpoint(const struct trace *t, uint64_t key, struct endpoint *ep)
{
	const struct timespec pause = { .tv_nsec = 500000 };

	for (int i = 0; i < READ_TRIES; i++) {
		if (i >= READ_AT_ONCE)
			nanosleep(&pause, NULL);
		if (!snapshot_copy(t, key, ep) || !ep->tx.word || !ep->rx.word)
			return false;
		endpoint_book(ep);
		if (endpoint_whole(ep))
			return true;
	}
	return true;
}

/* The serials of the closed endpoints from the list's entry `from` on, sorted. */
static uint64_t *closed_serials(const struct closed_list *l, size_t from)
{
	uint64_t *v = array_new(l->n - from, 0, sizeof(*v));

	for (size_t i = from; v && i < l->n; i++)
		v[i - from] = l->ep[i].id.serial;
	if (v)
		array_unique(v, l->n - from);
	return v;
}

/* Makes room for `more` endpoints after the present ones. */
static bool more_room(struct trace_snapshot *s, struct keyed **k, size_t more, bool sampled)
{
	struct keyed *keys = array_resize(*k, s->n, more, sizeof(*keys));
	struct trace_endpoint *ep = array_resize(s->ep, s->n, more, sizeof(*ep));
	struct trace_samples *samples =
		sampled ? array_resize(s->samples, s->n, more, sizeof(*samples)) : NULL;

	*k = keys ? keys : *k;
	s->ep = ep ? ep : s->ep;
	s->samples = samples ? samples : s->samples;
	return keys && ep && (samples || !sampled);
}

/* Bytes are certainly astray if several readings in a row find them so: a call that was about to
 * be counted is counted between two readings. */
static bool is_doubtful(const struct endpoint *ep, enum dir dir)
{
	return ep->astray[dir] && !(ep->flags & EP_MISSED << dir);
}

static bool settle_and_read(const struct trace *t, uint64_t key, struct endpoint *ep)
{
	const struct timespec pause = { .tv_nsec = 200000 };

	settle(t, key);
	for (int samples = 1; read_endpoint(t, key, ep); samples++) {
		if (samples >= AUDIT_LOOKS ||
		    (!is_doubtful(ep, DIR_TX) && !is_doubtful(ep, DIR_RX)))
			return true;
		nanosleep(&pause, NULL);
		settle(t, key);
	}
	return false;
}

static bool read_wanted(struct trace *t, uint64_t key, struct endpoint *ep)
{
	return settle_and_read(t, key, ep) && !(ep->flags & EP_UNSENT) &&
	       !is_strangers(ep->flags, ep->peer);
}

static void put_live(struct trace *t, struct trace_snapshot *s, struct keyed *k,
		     const uint64_t *keys, size_t n)
{
	struct endpoint ep;

	for (size_t i = 0; i < n; i++) {
		if (read_wanted(t, keys[i], &ep))
			peers_put(s, k, &ep, t);
		if (i % RING_HOLDS ==
		    RING_HOLDS - 1) /* an endpoint found closed puts its record into the ring */
			ring_buffer__consume(t->ring);
	}
	ring_buffer__consume(t->ring);
}

static void move(struct trace_snapshot *s, struct keyed *k, size_t from, size_t to)
{
	s->ep[to] = s->ep[from];
	k[to] = k[from];
	k[to].index = to;
	if (s->samples)
		s->samples[to] = s->samples[from];
}

/* Drops endpoints that closed after they were read (the list's entries from `since` on), so that
 * each counts once, as closed. False: no memory. */
static bool drop_closed(const struct closed_list *l, size_t since, struct trace_snapshot *s,
			struct keyed *k)
{
	uint64_t *closed = closed_serials(l, since);
	size_t n = 0;

	for (size_t i = 0; closed && i < s->n; i++) {
		if (bsearch(&s->ep[i].serial, closed, l->n - since, sizeof(*closed), order_u64))
			continue;
		if (n != i)
			move(s, k, i, n);
		n++;
	}
	s->n = closed ? n : s->n;
	free(closed);
	return closed;
}

static bool put_closed(struct trace *t, struct trace_snapshot *s, struct keyed **k)
{
	const struct closed_list *l = &t->closed;

	if (!more_room(s, k, l->n, t->sampler))
		return false;
	for (size_t i = 0; i < l->n; i++)
		peers_put(s, *k, &l->ep[i], t);
	t->closed.shown = l->n;
	s->rest = l->rest ? closed_sums_copy(l->rest) : NULL;
	return !l->rest || s->rest;
}

static int put_all(struct trace *t, struct trace_snapshot *s, const uint64_t *keys, size_t n)
{
	uint64_t dropped = t->closed.dropped;
	size_t since = t->closed.n;
	struct keyed *k = NULL;
	bool fits = more_room(s, &k, n, t->sampler);

	if (fits) {
		put_live(t, s, k, keys, n);
		fits = drop_closed(&t->closed, dropped == t->closed.dropped ? since : 0, s, k) &&
		       put_closed(t, s, &k);
	}
	if (fits)
		peers_join(s, k);
	free(k);
	return fits && !s->details.no_memory ? 0 : -1;
}

/* Runs the program for each endpoint. It may put a record into the ring, for an endpoint that is
 * gone or has a stall to report, so the ring is emptied in between. */
static void run_for_all(struct trace *t, int program, uint64_t at)
{
	uint64_t *keys = array_new(t->opts.max_endpoints, 0, sizeof(*keys));
	size_t n = keys ? snapshot_keys(t, keys, t->opts.max_endpoints) : 0;

	for (size_t i = 0; i < n; i++) {
		snapshot_run(program, keys[i], at);
		if (i % RING_HOLDS == RING_HOLDS - 1)
			ring_buffer__consume(t->ring);
	}
	ring_buffer__consume(t->ring);
	free(keys);
}

/* Keeps each state shorter than its word can represent, even if nobody takes a snapshot for
 * days. */
void snapshot_settle(struct trace *t)
{
	run_for_all(t, t->settle_fd, 0);
}

void snapshot_tell_ongoing(struct trace *t, uint64_t at)
{
	run_for_all(t, t->so_far_fd, at);
}

static int snapshot_fill(struct trace *t, struct trace_snapshot *s, struct err *e)
{
	uint64_t *keys = array_new(t->opts.max_endpoints, 0, sizeof(*keys));
	int err = -1;

	s->at_ns = snapshot_now();
	s->everything = t->opts.filter == TRACE_FILTER_ALL && !t->opts.port_lo;
	trace_sampled(t, &s->sampling);
	if (keys)
		err = put_all(t, s, keys, snapshot_keys(t, keys, t->opts.max_endpoints));
	free(keys);
	if (err)
		return fail_sys(e, ENOMEM, "cannot take a snapshot", "free some memory");
	counters_fill(t, &s->counters);
	listeners_fill(t, &s->listeners, s->at_ns);
	return 0;
}

static bool has(const struct endpoint *ep, size_t n, uint64_t key)
{
	for (size_t i = 0; i < n; i++)
		if (ep[i].id.key == key)
			return true;
	return false;
}

/* Reads these endpoints and their other ends. */
static size_t read_some(struct trace *t, const uint64_t *keys, size_t n, struct endpoint *live)
{
	size_t got = 0, first;

	for (size_t i = 0; i < n; i++)
		got += read_wanted(t, keys[i], &live[got]);
	first = got;
	for (size_t i = 0; i < first; i++)
		if (live[i].peer && !has(live, got, live[i].peer))
			got += read_wanted(t, live[i].peer, &live[got]);
	return got;
}

static int fill_some(struct trace *t, const uint64_t *keys, size_t n, struct trace_snapshot *s)
{
	struct endpoint *live = array_new(2 * n, 0, sizeof(*live));
	struct keyed *k = NULL;
	bool fits = live && more_room(s, &k, 2 * n, t->sampler);

	if (fits) {
		size_t got = read_some(t, keys, n, live);

		for (size_t i = 0; i < got; i++)
			peers_put(s, k, &live[i], t);
		peers_join(s, k);
	}
	free(live);
	free(k);
	return fits && !s->details.no_memory ? 0 : -1;
}

int trace_snapshot_some(struct trace *t, const uint64_t *keys, size_t n, struct trace_snapshot *s,
			struct err *e)
{
	int err;

	*s = (struct trace_snapshot){ .at_ns = snapshot_now() };
	trace_sampled(t, &s->sampling);
	pthread_mutex_lock(&t->lock);
	err = fill_some(t, keys, n, s);
	counters_fill(t, &s->counters);
	pthread_mutex_unlock(&t->lock);
	if (!err)
		return 0;
	trace_snapshot_free(s);
	return fail_sys(e, ENOMEM, "cannot take a snapshot", "free some memory");
}

void trace_snapshot_free(struct trace_snapshot *s)
{
	free(s->ep);
	free(s->samples);
	free(s->rest);
	details_free(&s->details);
	s->ep = s->rest = NULL;
	s->samples = NULL;
	s->n = 0;
}

int trace_snapshot(struct trace *t, struct trace_snapshot *s, struct err *e)
{
	int err;

	memset(s, 0, sizeof(*s));
	pthread_mutex_lock(&t->lock);
	err = snapshot_fill(t, s, e);
	pthread_mutex_unlock(&t->lock);
	if (err) {
		trace_snapshot_free(s);
	} else if (t->sampler) {
		accepted_by_fill(s);
		pipe_holders_fill(t, s);
		reader_cpu_fill(t, s);
	} else if (t->opts.filter == TRACE_FILTER_TGIDS || t->opts.filter == TRACE_FILTER_TREE) {
		pipe_holders_fill(t, s);
	}
	return err;
}
