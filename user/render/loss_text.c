// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams that were dropped on this host, as text. */
#include <inttypes.h>
#include <math.h>

#include "base/human.h"
#include "base/text.h"
#include "render/ledger_text.h"
#include "render/names.h"

static const struct {
	const char *name, *where, *fix;
} kinds[TRACE_DROPS] = {
	[TRACE_DROP_RCVBUF] = { "rcvbuf", "dropped at its full receive buffer",
				"read sooner or more in one call (recvmmsg), or make room for "
				"bursts: SO_RCVBUF, net.core.rmem_max (net.ipv4.udp_mem for all "
				"sockets)" },
	[TRACE_DROP_QDISC] = { "qdisc", "dropped by a queue on their way out",
			       "`tc -s qdisc` shows which one: send no faster than its rate, or "
			       "raise its limit" },
	[TRACE_DROP_CHECKSUM] = { "checksum", "dropped for a wrong checksum",
				  "find what damages them on the way: checksum offload of a "
				  "device, a tunnel, a cable" },
	[TRACE_DROP_OTHER] = { "other", "dropped by its socket",
			       "its receive buffer may be full: read sooner, or raise SO_RCVBUF; "
			       "--exact, or the kernel's tracepoint skb:kfree_skb, shows the "
			       "reason" },
};

static const char path_fix[] =
	"find where on the way: a filter (nft list ruleset), a device or tunnel that drops (ip -s "
	"link, tc -s qdisc), or a path that carries less than is sent";

const char *drop_name(enum trace_drop kind)
{
	return kinds[kind].name;
}

const char *loss_fix(const struct datagram_loss *loss)
{
	return loss->sent ? path_fix : kinds[loss->kind].fix;
}

void loss_party(const struct trace_endpoint *ep, const struct datagram_loss *loss, char *buf,
		size_t len)
{
	if (loss->over_ns)
		address_of_peer(ep, buf, len);
	else
		program_name(loss->kind == TRACE_DROP_QDISC ? &ep->tx_calls : &ep->rx_calls, buf,
			     len);
}

void loss_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	const struct datagram_loss *loss = &v->loss;
	const struct trace_endpoint *ep = &s->ep[loss->endpoint];
	char name[160], who[PARTY_TEXT];

	endpoint_name(ep, name, sizeof(name));
	loss_party(ep, loss, who, sizeof(who));
	snprintf(buf, len, "%s on %s: ", who, name);
	append_loss(loss, buf, len);
}

void append_loss(const struct datagram_loss *loss, char *buf, size_t len)
{
	if (loss->sent) {
		text_append(buf, len, "%" PRIu64 " of %" PRIu64 " datagrams did not arrive",
			    loss->n, loss->sent);
		return;
	}
	text_append(buf, len, "%" PRIu64 " datagram%s %s", loss->n, plural(loss->n),
		    kinds[loss->kind].where);
	if (loss->over_ns) {
		text_append(buf, len, " within %s, as it counts them itself",
			    human_time(loss->over_ns).text);
		return;
	}
	if (!isnan(loss->share))
		text_append(buf, len, " (%s%.1f %% of those read or dropped)",
			    loss->share < 0.001 ? "less than " : "",
			    100 * fmax(loss->share, 0.001));
}
