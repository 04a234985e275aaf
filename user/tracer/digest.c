// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "tracer/endpoint_detail.h"
#include "tracer/internal.h"
#include "base/index.h"
#include "base/text.h"

_Static_assert(SLOT_DELACK == TRACE_SLOT_DELACK, "trace.h says otherwise");

/* ---- from a snapshot's endpoint ---- */

static void endpoint_identity(struct trace_digest *out, const struct trace_endpoint *ep)
{
	out->serial = ep->serial;
	out->inode = ep->inode;
	out->netns = ep->netns;
	out->proto = (uint8_t)ep->proto;
	out->family = (uint8_t)ep->family;
	out->local = ep->local;
	out->remote = ep->remote;
	out->born_ns = ep->born_ns;
	out->at_ns = ep->at_ns;
	out->closed = ep->closed;
	out->joined_late = ep->joined_late;
}

static void endpoint_users(struct trace_digest *out, const struct trace_endpoint *ep)
{
	out->tx_tgid = ep->tx_calls.tgid;
	out->rx_tgid = ep->rx_calls.tgid;
	memcpy(out->tx_comm, ep->tx_calls.comm, sizeof(out->tx_comm));
	memcpy(out->rx_comm, ep->rx_calls.comm, sizeof(out->rx_comm));
	out->cgroup_id = ep->tx_calls.cgroup_id ? ep->tx_calls.cgroup_id : ep->rx_calls.cgroup_id;
}

static void endpoint_figures(struct trace_digest *out, const struct trace_endpoint *ep)
{
	const uint32_t(*hist)[TRACE_HIST] = trace_detail(ep)->tx_hist;

	memcpy(out->tx_ns, ep->tx.ns, sizeof(out->tx_ns));
	memcpy(out->rx_ns, ep->rx.ns, sizeof(out->rx_ns));
	memcpy(out->delack_ns, ep->blame.delack_ns, sizeof(out->delack_ns));
	memcpy(out->unread_ns, ep->blame.unread_ns, sizeof(out->unread_ns));
	memcpy(out->starved_ns, ep->blame.starved_ns, sizeof(out->starved_ns));
	out->gathered_ns = ep->blame.gathered_ns;
	out->gathered_n = ep->blame.gathered_n;
	out->tx_now = (uint8_t)ep->tx.now;
	out->rx_now = (uint8_t)ep->rx.now;
	out->tx_bytes = ep->tx_calls.bytes;
	out->tx_messages = ep->tx_calls.messages;
	out->rx_bytes = ep->rx_calls.bytes;
	out->rx_messages = ep->rx_calls.messages;
	out->tx_missed = ep->tx_calls.bytes_res != TRACE_EXACT;
	out->rx_missed = ep->rx_calls.bytes_res != TRACE_EXACT;
	out->blocked_ns = ep->tx_calls.blocked_ns;
	out->retransmits = ep->retransmits;
	out->rtt_us = ep->rtt_us;
	out->min_rtt_us = ep->min_rtt_us;
	for (int i = 0; i < TRACE_DROPS; i++)
		out->drops += ep->drops[i];
	out->drops_known = ep->drops_res != TRACE_UNKNOWN;
	for (int i = 0; i < TRACE_HIST; i++) {
		out->nagle_n += hist[TX_NAGLE][i];
		out->rwnd_n += hist[TX_RWND][i];
	}
	out->nagle_delack_n = hist[TX_NAGLE][SLOT_DELACK];
}

static void from_endpoint(struct trace_digest *out, const struct trace_endpoint *ep)
{
	memset(out, 0, sizeof(*out));
	endpoint_identity(out, ep);
	endpoint_users(out, ep);
	endpoint_figures(out, ep);
}

static int make_room(struct trace_digests *s, size_t n, struct err *e)
{
	struct trace_digest *p;

	if (n <= s->room)
		return 0;
	p = array_resize(s->v, n, 0, sizeof(*p));
	if (!p)
		return fail_sys(e, ENOMEM, "cannot sample", "free some memory");
	s->v = p;
	s->room = n;
	return 0;
}

int trace_digests_of(const struct trace_snapshot *snap, struct trace_digests *s, struct err *e)
{
	if (make_room(s, snap->n, e))
		return -1;
	s->at_ns = snap->at_ns;
	s->counters = snap->counters;
	s->n = snap->n;
	for (size_t i = 0; i < snap->n; i++) {
		int peer = snap->ep[i].peer;

		from_endpoint(&s->v[i], &snap->ep[i]);
		s->v[i].peer = peer >= 0 ? snap->ep[peer].serial : 0;
	}
	return 0;
}

static int digests_by_snapshot(struct trace *t, struct trace_digests *s, struct err *e)
{
	struct trace_snapshot snap;
	int rc;

	if (trace_snapshot(t, &snap, e))
		return -1;
	trace_forget_closed(t);
	rc = trace_digests_of(&snap, s, e);
	trace_snapshot_free(&snap);
	return rc;
}

/* ---- from the kernel half's digests ---- */

static void digest_identity(struct trace_digest *out, const struct digest *d)
{
	out->serial = d->id.serial;
	out->inode = d->id.inode;
	out->netns = d->id.netns;
	out->proto = d->id.proto;
	out->family = d->id.family;
	memcpy(out->local.ip, d->id.local.ip, sizeof(out->local.ip));
	memcpy(out->remote.ip, d->id.remote.ip, sizeof(out->remote.ip));
	out->local.port = d->id.local.port;
	out->remote.port = d->id.remote.port;
	out->peer = d->peer;
	out->born_ns = d->born;
	out->at_ns = d->at;
	out->closed = false;
	out->joined_late = d->flags & EP_JOINED_LATE;
}

/* how long the present state has lasted at the sample; a word holds the lower bits of its
 * beginning */
static uint64_t present(const struct digest *d, word_t w)
{
	uint64_t since = word_began(w, d->at);

	return d->at > since ? d->at - since : 0;
}

static void digest_ledgers(struct trace_digest *out, const struct digest *d)
{
	out->tx_now = (uint8_t)word_state(d->tx_word, DIR_TX);
	out->rx_now = (uint8_t)word_state(d->rx_word, DIR_RX);
	memcpy(out->tx_ns, d->tx_ns, sizeof(out->tx_ns));
	memcpy(out->rx_ns, d->rx_ns, sizeof(out->rx_ns));
	out->tx_ns[out->tx_now] += present(d, d->tx_word);
	out->rx_ns[out->rx_now] += present(d, d->rx_word);
	memcpy(out->delack_ns, d->delack_ns, sizeof(out->delack_ns));
	memcpy(out->unread_ns, d->unread_ns, sizeof(out->unread_ns));
	memcpy(out->starved_ns, d->starved_ns, sizeof(out->starved_ns));
	out->gathered_ns = d->gathered_ns;
	out->gathered_n = d->gathered_n;
	out->nagle_n = d->nagle_n;
	out->nagle_delack_n = d->nagle_delack_n;
	out->rwnd_n = d->rwnd_n;
}

static bool digest_missed(const struct digest *d, enum dir dir, uint64_t *bytes)
{
	if (!(d->flags & EP_MISSED << dir))
		return false;
	endpoint_moved(bytes, d->moved[dir]);
	return true;
}

static void from_digest(struct trace_digest *out, const struct digest *d)
{
	memset(out, 0, sizeof(*out));
	digest_identity(out, d);
	digest_ledgers(out, d);
	out->tx_bytes = endpoint_under_way(d->tx_bytes, d->moved[DIR_TX], d->tx_word);
	out->tx_messages = d->tx_messages;
	out->rx_bytes = endpoint_under_way(d->rx_bytes, d->moved[DIR_RX], d->rx_word);
	out->rx_messages = d->rx_messages;
	out->tx_missed = digest_missed(d, DIR_TX, &out->tx_bytes);
	out->rx_missed = digest_missed(d, DIR_RX, &out->rx_bytes);
	out->blocked_ns = d->blocked_ns;
	out->retransmits = d->retransmits;
	out->drops = d->drops;
	out->drops_known = resolution_drops(out->proto) != TRACE_UNKNOWN;
	out->cgroup_id = d->cgroup;
	out->rtt_us = d->rtt_us;
	out->min_rtt_us = endpoint_min_rtt(d->min_rtt_us);
	out->tx_tgid = (pid_t)d->tx_tgid;
	out->rx_tgid = (pid_t)d->rx_tgid;
	text_comm(out->tx_comm, d->tx_comm);
	text_comm(out->rx_comm, d->rx_comm);
}

/* samples see no call: bytes are TCP's own count */
static void from_samples(struct trace_digest *out, const struct digest *d)
{
	bool tcp = d->id.proto == PROTO_TCP;

	out->tx_bytes = tcp ? d->moved[DIR_TX] : 0;
	out->rx_bytes = tcp ? d->moved[DIR_RX] : 0;
	out->tx_missed = out->rx_missed = out->calls_unseen = true;
	out->drops_known = d->id.proto == PROTO_UDP;
}

static void take_digests(struct trace *t, struct trace_digests *s, size_t n)
{
	struct digest_order *o = t->digester.order;

	for (size_t i = 0; i < n; i += DIGESTS) {
		size_t some = n - i < DIGESTS ? n - i : DIGESTS;

		memcpy(o->key, t->digester.keys + i, some * sizeof(*o->key));
		if (run_program(t->digester.digest_fd, some))
			continue;
		ring_buffer__consume(t->ring); /* some endpoints may have been found closed */
		for (size_t k = 0; k < some; k++) {
			if (!o->digest[k].id.serial ||
			    is_strangers(o->digest[k].flags, o->digest[k].peer))
				continue;
			from_digest(&s->v[s->n], &o->digest[k]);
			if (t->backend == TRACE_SAMPLED)
				from_samples(&s->v[s->n], &o->digest[k]);
			s->n++;
		}
	}
}

/* by serial, 1 + the index of each digest; empty if none closed meanwhile */
static bool index_digests(const struct trace_digests *s, bool wanted, struct index *places)
{
	bool ok = true;

	for (size_t i = 0; wanted && ok && i < s->n; i++)
		ok = index_set(places, s->v[i].serial, (uint32_t)i + 1);
	return ok;
}

static struct trace_digest *find_live(struct trace_digests *s, const struct index *places,
				      uint64_t serial)
{
	uint32_t place = index_find(places, serial);

	return place ? &s->v[place - 1] : NULL;
}

static int by_key(const void *a, const void *b, void *closed)
{
	const struct endpoint *x = &((const struct endpoint *)closed)[*(const uint32_t *)a];
	const struct endpoint *y = &((const struct endpoint *)closed)[*(const uint32_t *)b];

	return COMPARE(x->id.key, y->id.key);
}

/* indexes of the closed ones, sorted by key; NULL: no memory */
static uint32_t *index_closed(const struct closed_list *l)
{
	uint32_t *order = array_new(l->n, 1, sizeof(*order));

	for (uint32_t i = 0; order && i < l->n; i++)
		order[i] = i;
	if (order && l->n)
		qsort_r(order, l->n, sizeof(*order), by_key, l->ep);
	return order;
}

/* The serial of a closed endpoint's other end, which either closed too and lived under that key at
 * the same time, or is alive. 0: neither. */
static uint64_t closed_peer(const struct trace *t, const uint32_t *order, const struct endpoint *ep)
{
	const struct closed_list *l = &t->closed;
	size_t lo = 0, hi = l->n;
	struct endpoint live;

	if (!ep->peer || ep->id.proto == PROTO_PIPE)
		return ep->id.proto == PROTO_PIPE ? ep->id.serial : 0;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->ep[order[mid]].id.key < ep->peer)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < l->n && l->ep[order[lo]].id.key == ep->peer; lo++) {
		const struct endpoint *other = &l->ep[order[lo]];

		if (other->born <= ep->closed && ep->born <= other->closed)
			return other->id.serial;
	}
	return snapshot_copy(t, ep->peer, &live) && live.born <= ep->closed ? live.id.serial : 0;
}

/* An endpoint that closed after its digest was taken (the list's entries from `since` on) already
 * has a digest, as a live one. */
static int add_closed(struct trace *t, struct trace_digests *s, size_t since, struct err *e)
{
	uint32_t *order = index_closed(&t->closed);
	struct trace_details details = {};
	struct trace_endpoint ep;
	struct index places = {};

	if (!order || !index_digests(s, t->closed.n > since, &places) ||
	    make_room(s, s->n + t->closed.n, e)) {
		index_free(&places);
		free(order);
		return fail_sys(e, ENOMEM, "cannot sample", "free some memory");
	}
	for (size_t i = 0; i < t->closed.n; i++) {
		struct trace_digest *live =
			i >= since ? find_live(s, &places, t->closed.ep[i].id.serial) : NULL;

		endpoint_fill(&ep, &t->closed.ep[i], t, &details);
		live = live ? live : &s->v[s->n++];
		from_endpoint(live, &ep);
		details_free(&details);
		live->peer = closed_peer(t, order, &t->closed.ep[i]);
	}
	t->closed.shown = t->closed.n;
	index_free(&places);
	free(order);
	return 0;
}

static int digests_by_kernel(struct trace *t, struct trace_digests *s, struct err *e)
{
	size_t since = t->closed.n, n;
	int err;

	s->n = 0;
	s->at_ns = snapshot_now();
	pthread_mutex_lock(&t->listing);
	n = list_endpoint_keys(t);
	err = make_room(s, n, e);
	if (!err)
		take_digests(t, s, n);
	pthread_mutex_unlock(&t->listing);
	if (err)
		return -1;
	ring_buffer__consume(t->ring);
	if (add_closed(t, s, since, e))
		return -1;
	counters_fill(t, &s->counters);
	return 0;
}

int trace_digests_take(struct trace *t, struct trace_digests *s, struct err *e)
{
	int err;

	if (!t->opts.samples)
		return digests_by_snapshot(t, s, e);
	pthread_mutex_lock(&t->lock);
	err = digests_by_kernel(t, s, e);
	pthread_mutex_unlock(&t->lock);
	if (!err)
		trace_forget_closed(t);
	return err;
}

void trace_digests_free(struct trace_digests *s)
{
	free(s->v);
	*s = (struct trace_digests){};
}

/* ---- what is shared with the kernel half ---- */

static size_t keys_size(const struct trace *t)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (t->opts.max_endpoints * sizeof(uint64_t) + page - 1) / page * page;
}

static void *map_shared(struct trace *t, const char *map, size_t size)
{
	int fd = bpf_object__find_map_fd_by_name(t->obj, map);
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int program_fd(const struct trace *t, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->obj, name);

	return p ? bpf_program__fd(p) : -1;
}

bool digest_map(struct trace *t)
{
	t->digester.list_fd = program_fd(t, "list_keys");
	t->digester.digest_fd = program_fd(t, "digest");
	t->digester.n_keys = object_var(t, "n_keys");
	if (t->digester.list_fd < 0 || t->digester.digest_fd < 0 || !t->digester.n_keys)
		return false;
	t->digester.keys = map_shared(t, "keys_in_use", keys_size(t));
	t->digester.order = map_shared(t, "digests", sizeof(*t->digester.order));
	return t->digester.keys && t->digester.order;
}

void digest_unmap(struct trace *t)
{
	if (t->digester.keys)
		munmap(t->digester.keys, keys_size(t));
	if (t->digester.order)
		munmap(t->digester.order, sizeof(*t->digester.order));
	t->digester.keys = NULL;
	t->digester.order = NULL;
}
