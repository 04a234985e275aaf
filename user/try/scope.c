// SPDX-License-Identifier: GPL-2.0-only
#include "try/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "verdict/merge_findings.h"
#include "try/peer_socket.h"

enum { HELD_NS = 1000000 }; /* a connection with less of the stall is left out as noise */

static const struct trace_endpoint *endpoint_of(const struct trace_snapshot *s, uint64_t serial)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ep[i].serial == serial)
			return &s->ep[i];
	return NULL;
}

static bool there_already(const struct scope *sc, uint64_t serial)
{
	for (size_t i = 0; i < sc->n; i++)
		if (sc->v[i].serial == serial)
			return true;
	return false;
}

static void add(struct scope *sc, const struct trace_endpoint *ep)
{
	struct lane *l = &sc->v[sc->n];

	if (sc->n == LANES_MAX) {
		sc->left_out++;
		return;
	}
	*l = (struct lane){ .serial = ep->serial };
	l->err = ep->inode ? fd_ref_find(&l->ref, sc->tgid, ep->inode) : -ENOENT;
	if (l->err)
		l->ref.pid = 0;
	sc->n++;
}

static bool is_its(const struct scope *sc, const struct trace_endpoint *ep)
{
	return ep->proto == sc->proto && ep->tx_calls.tgid == sc->tgid && !ep->closed &&
	       !there_already(sc, ep->serial);
}

void scope_choose(struct scope *sc, const struct trace_snapshot *s, const struct finding *f,
		  bool with_new)
{
	const struct trace_endpoint *worst = &s->ep[f->endpoint];

	*sc = (struct scope){ .proto = worst->proto,
			      .cause = f->cause,
			      .tgid = finding_sender(s, f).tgid,
			      .with_new = with_new };
	if (!sc->tgid)
		sc->tgid = worst->tx_calls.tgid;
	for (size_t i = 0; i < s->n; i++)
		if (is_its(sc, &s->ep[i]) &&
		    (&s->ep[i] == worst || s->ep[i].tx.ns[f->cause] >= HELD_NS))
			add(sc, &s->ep[i]);
}

size_t scope_extend(struct scope *sc, const struct trace_snapshot *s)
{
	size_t before = sc->n;

	for (size_t i = 0; sc->with_new && i < s->n; i++)
		if (is_its(sc, &s->ep[i]))
			add(sc, &s->ep[i]);
	return before;
}

/* The bytes that the other end has acknowledged. Bytes in the send buffer have not arrived. */
static bool acked_by_tcp(struct lane *l, uint64_t *bytes)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);
	int fd = l->ref.pid ? fd_ref_open(&l->ref) : -ENOENT;
	bool known =
		fd >= 0 && !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
		len >= offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked);

	if (fd >= 0)
		close(fd);
	if (known)
		*bytes = info.tcpi_bytes_acked;
	return known;
}

/* bytes that the lane's reader has not taken yet */
static uint64_t waiting(struct lane *l, enum trace_proto proto)
{
	int n = 0, fd = l->ref.pid ? fd_ref_open(&l->ref) : -ENOENT;

	if (fd < 0)
		return 0;
	if (ioctl(fd, proto == TRACE_PIPE ? FIONREAD : SIOCOUTQ, &n))
		n = 0;
	close(fd);
	return (uint64_t)n;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Bytes sent less bytes unread: the reader may be untraced, so its own count may be too low. A send
 * call under way fills the buffer before its bytes are counted, so the result never goes back. */
static uint64_t taken_out(struct lane *l, const struct trace_endpoint *ep)
{
	uint64_t out = less(ep->tx_calls.bytes, waiting(l, ep->proto));

	return out > l->delivered ? out : l->delivered;
}

static uint64_t delivered(struct lane *l, const struct trace_snapshot *s,
			  const struct trace_endpoint *ep)
{
	uint64_t bytes;

	if (ep->proto == TRACE_TCP && !ep->closed && acked_by_tcp(l, &bytes))
		return bytes;
	if (ep->proto == TRACE_TCP)
		return l->delivered ? l->delivered : ep->tx_calls.bytes;
	if (ep->proto == TRACE_UDP && ep->peer >= 0 && (size_t)ep->peer < s->n)
		return s->ep[ep->peer].rx_calls.bytes;
	return taken_out(l, ep);
}

/* A program may keep an ended connection open: one that was reset, or one that the other end has
 * closed and on which nothing moves; or a pipe without a reader. */
static bool has_ended(struct lane *l, enum trace_proto proto, bool moves)
{
	struct pollfd p = { .fd = l->ref.pid ? fd_ref_open(&l->ref) : -EBADF, .events = POLLRDHUP };

	if (p.fd < 0)
		return p.fd == -ENOENT;
	poll(&p, 1, 0);
	close(p.fd);
	return p.revents & (proto == TRACE_PIPE ? POLLERR : POLLHUP) ||
	       (!moves && p.revents & POLLRDHUP);
}

/* Whether bytes have arrived since the last sample. */
static bool look_at(struct lane *l, const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	uint64_t before = l->delivered;

	l->delivered = delivered(l, s, ep);
	return l->delivered != before;
}

static uint64_t written_by(pid_t tgid)
{
	uint64_t bytes;

	for_each_line (l, proc_path(tgid, "io").text)
		if (sscanf(l.text, "wchar: %" SCNu64, &bytes) == 1)
			return bytes;
	return 0;
}

struct mark scope_mark(struct scope *sc, const struct trace_snapshot *s)
{
	struct mark m = { .at_ns = s->at_ns,
			  .written = written_by(sc->tgid),
			  .messages_known = true };

	for (size_t i = 0; i < sc->n; i++) {
		const struct trace_endpoint *ep = endpoint_of(s, sc->v[i].serial);

		if (ep) {
			bool moves = look_at(&sc->v[i], s, ep);

			m.messages += ep->tx_calls.messages;
			m.messages_known &= trace_messages_known(&ep->tx_calls);
			m.bytes += ep->tx_calls.bytes;
			m.stall_ns += ledger_stall_ns(&ep->tx);
			m.cause_ns += ep->tx.ns[sc->cause];
			m.time_ns += ep->tx.lifetime_ns;
			m.alive += !ep->closed && !has_ended(&sc->v[i], ep->proto, moves);
		}
		m.delivered += sc->v[i].delivered;
	}
	return m;
}

struct mark scope_count(struct scope *sc)
{
	struct mark m = { .at_ns = now_ns(), .written = written_by(sc->tgid) };
	uint64_t left = 0;

	for (size_t i = 0; i < sc->n; i++) {
		struct lane *l = &sc->v[i];
		uint64_t before = l->delivered;

		if (sc->proto == TRACE_TCP)
			acked_by_tcp(l, &l->delivered);
		else
			left += waiting(l, sc->proto);
		m.delivered += l->delivered;
		m.alive += !has_ended(l, sc->proto, l->delivered != before);
	}
	if (sc->proto != TRACE_TCP)
		m.delivered = less(m.written, left);
	return m;
}

static pid_t holder(const struct trace_endpoint *ep)
{
	return ep->rx_calls.tgid ? ep->rx_calls.tgid : ep->tx_calls.tgid;
}

int scope_descriptor(const struct scope *sc, const struct trace_snapshot *s, size_t lane,
		     bool at_peer, struct fd_ref *out)
{
	const struct trace_endpoint *ep = endpoint_of(s, sc->v[lane].serial), *peer;

	if (!ep || ep->closed)
		return -ENOENT;
	if (sc->v[lane].err)
		return sc->v[lane].err;
	if (!at_peer) {
		*out = sc->v[lane].ref;
		return 0;
	}
	peer = ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer] : NULL;
	if (peer && peer->inode && holder(peer) && !fd_ref_find(out, holder(peer), peer->inode))
		return 0;
	return peer_socket_find(out, sc->tgid, ep);
}
