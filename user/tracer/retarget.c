// SPDX-License-Identifier: GPL-2.0-only
/* Turns a stopped session to other processes. Its programs stay loaded, but forget all that they
 * knew. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "tracer/internal.h"

static void empty_map(const struct trace *t, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(t->obj, name);
	char key[128];

	if (!map || bpf_map__key_size(map) > sizeof(key))
		return;
	while (!bpf_map_get_next_key(bpf_map__fd(map), NULL, key) &&
	       !bpf_map_delete_elem(bpf_map__fd(map), key))
		;
}

/* Vacates all places, and blanks them: a stale hint that leads to one finds nothing. */
static void empty_places(struct trace *t)
{
	int vacant = bpf_object__find_map_fd_by_name(t->obj, "vacant");
	struct endpoint *blank = calloc(1, sizeof(*blank));
	uint64_t key;
	uint32_t place;

	while (blank && !bpf_map_get_next_key(t->keys_fd, NULL, &key)) {
		if (bpf_map_lookup_elem(t->keys_fd, &key, &place) ||
		    bpf_map_delete_elem(t->keys_fd, &key))
			break;
		bpf_map_update_elem(t->endpoints_fd, &place, blank, BPF_ANY);
		bpf_map_update_elem(vacant, NULL, &place, BPF_ANY);
	}
	free(blank);
}

static void clear_variable(struct trace *t, const char *name, size_t size)
{
	void *p = object_var(t, name);

	if (p)
		memset(p, 0, size);
}

static void forget_closed(struct closed_list *l)
{
	free(l->rest);
	*l = (struct closed_list){ .ep = l->ep, .room = l->room };
}

/* Forgets what belongs to the old target: its closed endpoints, and all counts. */
static void forget_counts(struct trace *t)
{
	struct processor *p = object_var(t, "processors");

	for (size_t i = 0; p && i < PROCESSORS; i++)
		memset(p[i].counts, 0, sizeof(p[i].counts));
	forget_closed(&t->closed);
	t->unlistened = (struct trace_listeners){};
	t->existing = (struct trace_existing){};
	t->lost = t->n_closed = 0;
	t->missed_before = counters_missed(t);
}

static void forget_all(struct trace *t)
{
	if (t->hashed)
		empty_map(t, "hashed");
	else
		empty_places(t);
	empty_map(t, "tuples");
	empty_map(t, "listeners");
	empty_map(t, "listening");
	empty_map(t, "followed");
	clear_variable(t, "tgid_hint", TGID_HINTS * sizeof(uint32_t));
	clear_variable(t, "calls", CALL_SLOTS * sizeof(struct call));
	ring_buffer__consume(t->ring);
	forget_counts(t);
}

/* Follows the processes that still live. -1: none is left. */
static int follow_all(struct trace *t, struct err *e)
{
	struct err left_out = {};
	size_t followed = 0;

	for (size_t i = 0; i < t->opts.n_tgids; i++)
		followed += !trace_follow(t, t->opts.tgids[i], &left_out);
	return followed ? 0 : err_set(e, left_out.code, "%s", left_out.text);
}

int trace_retarget(struct trace *t, const pid_t *tgids, size_t n, struct err *e)
{
	if (t->running || t->opts.filter != TRACE_FILTER_TREE)
		return err_set(e, EXIT_BUG,
			       "cannot switch to other processes: the session is running, or "
			       "follows no processes; report it");
	forget_all(t);
	t->opts.n_tgids = MIN(n, (size_t)TRACE_TGIDS);
	memcpy(t->opts.tgids, tgids, t->opts.n_tgids * sizeof(*tgids));
	return follow_all(t, e);
}
