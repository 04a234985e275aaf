// SPDX-License-Identifier: GPL-2.0-only
/*
 * Eviction of endpoints. Sockets that a program keeps idle, thousands perhaps, must not keep out
 * programs that transfer data. When an endpoint finds no slot, idle endpoints that never stalled
 * are dropped, first those of processes with more than their share. If there are none, and the
 * process that asks has less than its share, the process with the most slots loses some idle
 * endpoints, the least stalled first.
 */
#include "tracer/endpoint_eviction.h"

#include <stdlib.h>
#include <sys/param.h>

#include "base/array.h"
#include "tracer/internal.h"

enum { TRIES_APART_NS = 1000000000, AGAIN_NS = 100000000 };

ORDER_BY(by_process, struct place, tgid)

/* First the least stalled, then those that moved the fewest bytes, then the longest idle. */
static int by_worth(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return COMPARE(x->stall_ns, y->stall_ns) ?: COMPARE(x->bytes, y->bytes) ?:
	       COMPARE(y->idle_ns, x->idle_ns);
}

/* Sets how many slots each endpoint's process has. Returns the number of processes. */
static size_t count_by_process(struct place *v, size_t n)
{
	size_t processes = 0;

	qsort(v, n, sizeof(*v), by_process);
	for (size_t from = 0, to; from < n; from = to, processes++) {
		for (to = from; to < n && v[to].tgid == v[from].tgid; to++)
			;
		for (size_t i = from; i < to; i++)
			v[i].of_process = to - from;
	}
	return processes;
}

static size_t places_of(const struct place *v, size_t n, uint32_t tgid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].tgid == tgid)
			return v[i].of_process;
	return 0;
}

/* Marks idle endpoints of each process until it has `least` left; v is sorted by process. */
static size_t choose_of_each(struct place *v, size_t n, size_t least, bool stalled_too)
{
	size_t chosen = 0;

	for (size_t from = 0, to; from < n; from = to) {
		size_t left = v[from].of_process;

		for (to = from; to < n && v[to].tgid == v[from].tgid; to++)
			;
		qsort(v + from, to - from, sizeof(*v), by_worth);
		for (size_t i = from; i < to && left > least; i++) {
			if (v[i].idle_ns < EVICT_IDLE_NS || (v[i].stall_ns && !stalled_too))
				continue;
			v[i].goes = true;
			left--;
			chosen++;
		}
	}
	return chosen;
}

static size_t most_of_any(const struct place *v, size_t n)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = v[i].of_process > most ? v[i].of_process : most;
	return most;
}

size_t eviction_choose(struct place *v, size_t n, uint32_t asks)
{
	size_t processes = n ? count_by_process(v, n) : 0, chosen, share, has;

	if (!n)
		return 0;
	has = places_of(v, n, asks);
	share = n / (processes + !has);
	chosen = choose_of_each(v, n, share, false);
	if (!chosen)
		chosen = choose_of_each(v, n, 0, false);
	if (!chosen && has < share)
		chosen = choose_of_each(v, n, most_of_any(v, n) * 15 / 16, true);
	return chosen;
}

/* --- the endpoints that have a slot --- */

/* A sampled session knows it only from its samples: an endpoint not looked at yet is not idle. */
static uint64_t idle_by_samples(const struct endpoint *ep, uint64_t now)
{
	uint64_t since = MAX(ep->tx.samples.since, ep->rx.samples.since);

	return ep->tx.samples.n && ep->rx.samples.n && now > since ? now - since : 0;
}

static uint64_t idle_for(const struct trace *t, const struct endpoint *ep, uint64_t now)
{
	uint64_t tx = word_elapsed(ep->tx.word, now), rx = word_elapsed(ep->rx.word, now);
	bool quiet = word_state(ep->tx.word, DIR_TX) == TX_IDLE &&
		     word_state(ep->rx.word, DIR_RX) == RX_IDLE && !word_working(ep->tx.word) &&
		     !word_working(ep->rx.word);

	if (!quiet)
		return 0;
	return t->backend == TRACE_SAMPLED ? idle_by_samples(ep, now) : MIN(tx, rx);
}

static uint64_t bytes_through(const struct call_stats *b)
{
	return b->own.bytes + b->crowd.bytes;
}

static void describe(const struct trace *t, struct place *p, const struct endpoint *ep,
		     uint64_t now)
{
	*p = (struct place){ .key = ep->key,
			     .serial = ep->id.serial,
			     .tgid = ep->tx_calls.tgid ? ep->tx_calls.tgid : ep->rx_calls.tgid,
			     .idle_ns = idle_for(t, ep, now),
			     .stall_ns = endpoint_stalled_ns(ep),
			     .bytes = bytes_through(&ep->tx_calls) + bytes_through(&ep->rx_calls) };
}

static size_t list_places(const struct trace *t, const uint64_t *keys, size_t n, struct place *v)
{
	uint64_t now = snapshot_now();
	struct endpoint ep;
	size_t got = 0;

	for (size_t i = 0; i < n; i++) {
		if (!snapshot_copy(t, keys[i], &ep) || !ep.tx.word || !ep.rx.word || ep.closed)
			continue;
		endpoint_book(&ep);
		describe(t, &v[got++], &ep, now);
	}
	return got;
}

static void evict_each(struct trace *t, const struct place *v, size_t n)
{
	for (size_t i = 0, gone = 0; i < n; i++) {
		if (!v[i].goes)
			continue;
		snapshot_run(t->evict_fd, v[i].key, v[i].serial);
		if (++gone % RING_HOLDS == 0)
			ring_buffer__consume(t->ring);
	}
	ring_buffer__consume(t->ring);
}

/* Returns how many endpoints were dropped. */
static size_t evict(struct trace *t, uint32_t asks)
{
	uint64_t *keys = array_new(t->opts.max_endpoints, 0, sizeof(*keys));
	struct place *v = array_new(t->opts.max_endpoints, 0, sizeof(*v));
	size_t n = keys && v
			   ? list_places(t, keys, snapshot_keys(t, keys, t->opts.max_endpoints), v)
			   : 0,
	       chosen = eviction_choose(v, n, asks);

	if (chosen)
		evict_each(t, v, n);
	free(keys);
	free(v);
	return chosen;
}

void eviction_tend(struct trace *t)
{
	const uint64_t *in_vain = object_var(t, "no_room");
	const uint32_t *asks = object_var(t, "no_room_for");
	uint64_t asked = in_vain ? __atomic_load_n(in_vain, __ATOMIC_RELAXED) : 0,
		 now = snapshot_now();

	if (!asks || asked == t->eviction.asked || now < t->eviction.next_ns || t->evict_fd < 0)
		return;
	if (evict(t, __atomic_load_n(asks, __ATOMIC_RELAXED))) {
		t->eviction.asked = asked;
		t->eviction.next_ns = now + AGAIN_NS;
	} else {
		t->eviction.next_ns = now + TRIES_APART_NS;
	}
}
