// SPDX-License-Identifier: GPL-2.0-only
/* Listening sockets, as the kernel half keeps them (bpf/endpoint.bpf.h), and those that do not
 * listen any more. */
#include <string.h>

#include "base/text.h"
#include "tracer/internal.h"

/* Does a matter more than b? */
static bool is_worse(const struct trace_listener *a, const struct trace_listener *b)
{
	if (a->dropped != b->dropped)
		return a->dropped > b->dropped;
	return a->wait_max_ns != b->wait_max_ns ? a->wait_max_ns > b->wait_max_ns
						: a->peak > b->peak;
}

static void listeners_add(struct trace_listeners *to, const struct trace_listener *l)
{
	struct trace_listener *least = to->v;

	if (to->n < TRACE_LISTENERS) {
		to->v[to->n++] = *l;
		return;
	}
	to->left_out++;
	for (size_t i = 1; i < to->n; i++)
		if (is_worse(least, &to->v[i]))
			least = &to->v[i];
	if (is_worse(l, least))
		*least = *l;
}

static void fill(struct trace_listener *out, const struct listener *in, uint64_t now)
{
	*out = (struct trace_listener){
		.inode = in->inode,
		.netns = in->netns,
		.family = (int)in->family,
		.born_ns = in->born,
		.at_ns = in->closed ? in->closed : now,
		.closed = in->closed,
		.backlog = in->backlog,
		.queue = in->closed ? 0 : in->queue,
		.peak = in->peak,
		.dropped = in->drops,
		.established = in->established,
		.accepted = in->accepted,
		.wait_ns = in->wait_ns,
		.wait_max_ns = in->wait_max,
		.tgid = (pid_t)in->tgid,
	};
	memcpy(out->local.ip, in->local.ip, sizeof(out->local.ip));
	out->local.port = in->local.port;
	text_comm(out->comm, in->comm);
}

void listeners_gone(struct trace *t, const struct listener *l)
{
	struct trace_listener out;

	fill(&out, l, l->closed);
	listeners_add(&t->unlistened, &out);
}

void listeners_fill(struct trace *t, struct trace_listeners *out, uint64_t now)
{
	uint64_t prev, key, *from = NULL;
	struct trace_listener l;
	struct listener in;

	*out = t->unlistened;
	for (int i = 0;
	     t->listening_fd >= 0 && i < 4096 && !bpf_map_get_next_key(t->listening_fd, from, &key);
	     i++) {
		prev = key;
		from = &prev;
		snapshot_run(t->settle_listener, key, 0);
		if (bpf_map_lookup_elem(t->listening_fd, &key, &in) || !in.key ||
		    in.born > now) /* made while the snapshot was taken: the next one has it */
			continue;
		fill(&l, &in, now);
		listeners_add(out, &l);
	}
}
