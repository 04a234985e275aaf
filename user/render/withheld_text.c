// SPDX-License-Identifier: GPL-2.0-only
/* The sentence on delayed ACKs for which an unseen sender waited. */
#include <inttypes.h>

#include "base/human.h"
#include "render/ledger_text.h"

/* "curl[12] on tcp A > B: its delayed ACKs held up the other end, which was not seen: 57 times, 2.3
 * s in all..." */
void withheld_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf,
		       size_t len)
{
	const struct withheld_ack *w = &v->withheld;
	const struct trace_endpoint *ep = &s->ep[w->endpoint];
	char name[160], who[48];

	endpoint_name(ep, name, sizeof(name));
	program_name(ep->rx_calls.tgid ? &ep->rx_calls : &ep->tx_calls, who, sizeof(who));
	snprintf(buf, len,
		 "%s on %s: its delayed ACKs held up the other end, which was not seen: %" PRIu64
		 " times, %s in all (%.1f %% of its time); inferred from this end alone: more "
		 "data came one round trip after each",
		 who, name, w->count, human_time(w->ns).text, 100 * w->share);
}

const char withheld_fix[] =
	"TCP_QUICKACK here; at the other end TCP_NODELAY, one write for each message, or a larger "
	"SO_SNDBUF";
