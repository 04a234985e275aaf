// SPDX-License-Identifier: GPL-2.0-only
/* What a process has sent, and nobody takes: it may sleep until somebody does, whatever else it
 * waits for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "host/proc.h"
#include "tracer/internal.h"
#include "tracer/sought_sockets.h"

#define SOCKETS_MOST 64
#define LOOKS	     3
#define APART_NS     20000000

struct output {
	uint64_t inode[SOCKETS_MOST];
	size_t n;
	bool too_many;
};

static void note_socket(void *ctx, int dir, long fd)
{
	struct output *o = ctx;
	char name[24], to[32] = "";

	snprintf(name, sizeof(name), "%ld", fd);
	if (readlinkat(dir, name, to, sizeof(to) - 1) <= 0 || strncmp(to, "socket:", 7))
		return;
	if (o->n == SOCKETS_MOST)
		o->too_many = true;
	else
		o->inode[o->n++] = text_link_inode(to);
}

/* at all looks so far */
struct stuck {
	bool full, unread;
	uint32_t before;
};

static void find(struct sought_sockets *all)
{
	sought_find_tcp(all);
	sought_find_unix(all);
}

static void look(struct sought_sockets *all, struct stuck *stuck, int k)
{
	find(all);
	for (size_t i = 0; i < all->n; i++) {
		const struct sought *x = &all->v[i];
		bool same = !k || x->unread == stuck[i].before;

		stuck[i] = (struct stuck){
			.full = (!k || stuck[i].full) && x->is_full,
			.unread = (!k || stuck[i].unread) && x->unread && same,
			.before = x->unread,
		};
	}
}

static bool is_held(const struct sought *x, const struct stuck *stuck, bool asked_only,
		    const struct tcp_turns *turns, pid_t pid)
{
	if (!stuck->full && !stuck->unread)
		return false;
	return !asked_only || (sought_has_asked(x, turns) && sought_answers(x, pid));
}

/* the only one, or one of several to the same process */
static const struct sought *only_held(const struct sought_sockets *all, const struct stuck *stuck,
				      bool asked_only, pid_t pid)
{
	struct tcp_turns turns = {};
	const struct sought *found = NULL;
	bool several = false;

	tcp_turns_read(&turns);
	for (size_t i = 0; i < all->n; i++) {
		const struct sought *x = &all->v[i];

		if (!is_held(x, &stuck[i], asked_only, &turns, pid))
			continue;
		several |= found && (!x->ep->making.other_pid ||
				     x->ep->making.other_pid != found->ep->making.other_pid);
		found = x;
	}
	tcp_turns_free(&turns);
	return several ? NULL : found;
}

static bool look_at_all(struct sought_sockets *all, struct trace_snapshot *s, bool asked_only,
			pid_t pid, struct trace_held_output *out)
{
	struct stuck stuck[SOCKETS_MOST] = {};
	const struct sought *x;

	find(all);
	for (int k = 0; k < LOOKS; k++) {
		if (k)
			nanosleep(&(struct timespec){ .tv_nsec = APART_NS }, NULL);
		look(all, stuck, k);
	}
	trace_name_other_ends(s);
	x = only_held(all, stuck, asked_only, pid);
	if (!x || x->ep->making.other_shared || x->ep->making.other_pid == pid)
		return false;
	*out = (struct trace_held_output){ .reader = x->ep->making.other_pid,
					   .family = x->ep->family,
					   .remote = x->ep->remote };
	return out->reader || !x->is_unix;
}

bool trace_held_output(pid_t pid, bool asked_only, struct trace_held_output *out)
{
	struct output o = {};
	char path[32];
	struct trace_endpoint *ep;
	struct sought *v;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	if (!proc_numbers(path, note_socket, &o) || !o.n || o.too_many)
		return false;
	ep = array_new(o.n, 1, sizeof(*ep));
	v = array_new(o.n, 1, sizeof(*v));
	for (size_t i = 0; ep && v && i < o.n; i++) {
		ep[i] = (struct trace_endpoint){ .proto = TRACE_UNIX_STREAM, /* or TCP: find() */
						 .inode = o.inode[i],
						 .peer = -1 };
		v[i] = (struct sought){ .inode = o.inode[i], .ep = &ep[i] };
	}
	if (ep && v)
		found = look_at_all(&(struct sought_sockets){ v, o.n },
				    &(struct trace_snapshot){ .ep = ep, .n = o.n }, asked_only, pid,
				    out);
	free(v);
	free(ep);
	return found;
}
