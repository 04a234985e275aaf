// SPDX-License-Identifier: GPL-2.0-only
/* Which thread of a server works on a request just now. */
#include "tracer/internal.h"

#define ENDPOINTS_MOST 64
#define PORTS_MOST     16

struct listened_ports {
	struct {
		unsigned int netns, port;
	} v[PORTS_MOST];
	size_t n;
};

static struct listened_ports ports_of(const struct trace *t)
{
	struct listened_ports ports = { 0 };
	uint64_t prev, key, *from = NULL;
	struct listener l;

	while (t->listening_fd >= 0 && ports.n < PORTS_MOST &&
	       !bpf_map_get_next_key(t->listening_fd, from, &key)) {
		prev = key;
		from = &prev;
		if (bpf_map_lookup_elem(t->listening_fd, &key, &l) || l.closed)
			continue;
		ports.v[ports.n].netns = l.netns;
		ports.v[ports.n++].port = l.local.port;
	}
	return ports;
}

static bool was_accepted(const struct endpoint *ep, const struct listened_ports *ports)
{
	if (ep->id.proto == PROTO_UNIX_STREAM)
		return ep->making.origin == ORIGIN_LISTENER;
	for (size_t i = 0; ep->id.proto == PROTO_TCP && i < ports->n; i++)
		if (ports->v[i].port == ep->id.local.port && ports->v[i].netns == ep->id.netns)
			return true;
	return false;
}

static bool is_servers_end(const struct endpoint *ep, pid_t pid, const struct listened_ports *ports)
{
	return (pid_t)ep->rx_calls.tgid == pid && !ep->closed && was_accepted(ep, ports);
}

static bool other_end_waits(const struct trace *t, const struct endpoint *ep)
{
	struct endpoint peer;

	return !ep->peer || !snapshot_copy(t, ep->peer, &peer) || peer.asking.asked;
}

/* A thread that sleeps there until more comes has not the whole request. */
static bool owes_answer(const struct trace *t, const struct endpoint *ep)
{
	return ep->rx_calls.tid && ep->asking.took && !ep->asking.asked &&
	       (ep->rx_calls.own.bytes || ep->rx_calls.crowd.bytes) &&
	       WORD_STATE(ep->rx.word, DIR_RX) != RX_WAIT && other_end_waits(t, ep);
}

pid_t trace_working_thread(struct trace *t, pid_t pid)
{
	uint64_t keys[ENDPOINTS_MOST + 1], since = 0;
	struct listened_ports ports;
	pid_t tid = TRACE_WORKER_UNKNOWN;
	struct endpoint ep;
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = snapshot_keys(t, keys, ENDPOINTS_MOST + 1);
	ports = ports_of(t);
	for (size_t i = 0; n <= ENDPOINTS_MOST && i < n; i++) {
		if (!snapshot_copy(t, keys[i], &ep) || !is_servers_end(&ep, pid, &ports))
			continue;
		if (tid == TRACE_WORKER_UNKNOWN)
			tid = 0;
		if (!owes_answer(t, &ep) || ep.asking.took <= since)
			continue;
		since = ep.asking.took;
		tid = (pid_t)ep.rx_calls.tid;
	}
	pthread_mutex_unlock(&t->lock);
	return tid;
}
