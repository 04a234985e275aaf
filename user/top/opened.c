// SPDX-License-Identifier: GPL-2.0-only
#include "top/opened.h"

#include "base/array.h"
#include "tracer/endpoint_detail.h"

static size_t place_of(const struct trace_snapshot *s, uint64_t serial)
{
	size_t i = 0;

	while (i < s->n && s->ep[i].serial != serial)
		i++;
	return i;
}

static bool take(struct trace_snapshot *to, const struct trace_snapshot *from, size_t i)
{
	to->ep[to->n] = from->ep[i];
	if (to->samples)
		to->samples[to->n] = from->samples[i];
	return detail_unshare(&to->details, &to->ep[to->n++]);
}

/* Copies an endpoint and its other end alone, so that the verdict is on these two. */
static int two_ends(const struct trace_snapshot *s, size_t at, struct trace_snapshot *out)
{
	int peer = s->ep[at].peer;
	bool two = peer >= 0 && (size_t)peer < s->n && (size_t)peer != at;

	*out = *s;
	out->n = 0;
	out->rest = NULL;
	out->details = (struct trace_details){};
	out->ep = array_new(2, 0, sizeof(*out->ep));
	out->samples = s->samples ? array_new(2, 0, sizeof(*out->samples)) : NULL;
	if (!out->ep || (s->samples && !out->samples) || !take(out, s, at) ||
	    (two && !take(out, s, (size_t)peer))) {
		trace_snapshot_free(out);
		return -1;
	}
	out->ep[0].peer = two ? 1 : peer < 0 ? -1 : 0;
	if (two)
		out->ep[1].peer = 0;
	return 0;
}

static void judge(struct opened *o, const struct trace_snapshot *phase, uint64_t over_ns)
{
	struct verdict v;

	verdict_make(phase, &v);
	card_make(phase, &v, &o->card);
	card_point_to_try(phase, &v, &o->card);
	o->over_ns = over_ns;
	o->judged = true;
}

int opened_look(struct opened *o, const struct trace_snapshot *now, uint64_t serial)
{
	size_t at = place_of(now, serial);
	uint64_t began_ns = o->since.head.at_ns;
	struct trace_snapshot ends;
	int rc;

	if (at == now->n) /* the endpoint is gone: the last card stays */
		return 0;
	if (began_ns && now->at_ns - began_ns < OPENED_LEAST_NS)
		return 0;
	if (two_ends(now, at, &ends))
		return -1;
	rc = began_ns ? trace_subtract(&ends, &o->since) : trace_pack(&o->since, &ends);
	if (rc == 0 && began_ns)
		judge(o, &ends, ends.at_ns - began_ns);
	trace_snapshot_free(&ends);
	return rc;
}

void opened_clear(struct opened *o)
{
	trace_packed_free(&o->since);
	*o = (struct opened){};
}
