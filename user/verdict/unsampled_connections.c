// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/unsampled_connections.h"

#include <string.h>

#define SAMPLES_ENOUGH 10

bool same_server(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->remote.port && a->remote.port == b->remote.port && a->family == b->family &&
	       !memcmp(a->remote.ip, b->remote.ip, sizeof(a->remote.ip));
}

bool same_client(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->proto == b->proto && a->rx_calls.tgid && a->rx_calls.tgid == b->rx_calls.tgid;
}

static bool is_unsampled(const struct trace_snapshot *s, size_t i)
{
	return s->ep[i].proto == TRACE_TCP && s->ep[i].closed && !s->samples[i].n;
}

/* Each that was sampled stands for one other at most: so many, for as many times what they lived.
 */
static void keep_at_most(struct unsampled *b, double lifetime_ns)
{
	if ((double)b->lifetime_ns <= lifetime_ns)
		return;
	b->n = (size_t)((double)b->n * lifetime_ns / (double)b->lifetime_ns);
	b->lifetime_ns = (uint64_t)lifetime_ns;
}

struct unsampled unsampled_like(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	struct unsampled b = {};
	uint64_t samples = 0, sampled = 0;

	for (size_t i = 0; s->samples && ep->proto == TRACE_TCP && i < s->n; i++) {
		if (!same_client(ep, &s->ep[i]) || !same_server(ep, &s->ep[i]))
			continue;
		if (is_unsampled(s, i)) {
			b.n++;
			b.lifetime_ns += s->ep[i].rx.lifetime_ns;
			continue;
		}
		b.sampled_ns += s->ep[i].rx.lifetime_ns;
		samples += s->samples[i].n;
		sampled += s->samples[i].n != 0;
	}
	if (samples < SAMPLES_ENOUGH || !b.sampled_ns)
		return (struct unsampled){};
	keep_at_most(&b, (double)sampled * (double)b.sampled_ns);
	return b;
}

uint64_t unsampled_part(const struct unsampled *b, uint64_t ns)
{
	return b->n ? (uint64_t)((double)ns * (double)b->lifetime_ns / (double)b->sampled_ns) : 0;
}

size_t count_unsampled(const struct trace_snapshot *s)
{
	size_t n = 0;

	for (size_t i = 0; s->samples && i < s->n; i++)
		n += is_unsampled(s, i);
	return n;
}
