// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/stalls.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "verdict/blame.h"

static uint64_t hash(const char *s)
{
	uint64_t h = 14695981039346656037ull;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 1099511628211ull;
	return h;
}

/* the slot that holds the text, or the empty one where it belongs */
static size_t slot_of(char *const *texts, size_t room, const char *text)
{
	size_t i = hash(text) & (room - 1);

	while (texts[i] && strcmp(texts[i], text))
		i = (i + 1) & (room - 1);
	return i;
}

static bool make_room(struct stalls *l)
{
	size_t room = l->texts_room ? 2 * l->texts_room : 64;
	char **p;

	if (2 * l->n_texts < l->texts_room)
		return true;
	p = array_new(room, 0, sizeof(*p));
	if (!p)
		return false;
	for (size_t i = 0; i < l->texts_room; i++)
		if (l->texts[i])
			p[slot_of(p, room, l->texts[i])] = l->texts[i];
	free(l->texts);
	l->texts = p;
	l->texts_room = room;
	return true;
}

static const char *keep_text(struct stalls *l, const char *text)
{
	size_t i;

	if (!make_room(l))
		return NULL;
	i = slot_of(l->texts, l->texts_room, text);
	if (!l->texts[i] && l->text_bytes + strlen(text) < STALL_TEXTS_MAX &&
	    (l->texts[i] = strdup(text))) {
		l->n_texts++;
		l->text_bytes += strlen(text) + 1;
	}
	return l->texts[i];
}

const char *stalls_text(struct stalls *l, const char *text)
{
	const char *kept = *text ? keep_text(l, text) : NULL;

	if (*text && !kept)
		__atomic_fetch_add(&l->texts_lost, 1, __ATOMIC_RELAXED);
	return kept;
}

uint64_t stalls_texts_lost(const struct stalls *l)
{
	return __atomic_load_n(&l->texts_lost, __ATOMIC_RELAXED);
}

void stalls_add(struct stalls *l, const struct stall *s)
{
	if (l->n < l->room ||
	    (!l->oldest && array_grow_to(&l->v, l->n, &l->room, l->max, sizeof(*l->v)))) {
		l->v[l->n++] = *s;
		return;
	}
	l->dropped++;
	if (!l->n)
		return;
	l->v[l->oldest] = *s;
	l->oldest = (l->oldest + 1) % l->n;
}

const struct stall *stalls_at(const struct stalls *l, size_t i)
{
	return &l->v[(l->oldest + i) % l->n];
}

void stalls_free(struct stalls *l)
{
	for (size_t i = 0; i < l->texts_room; i++)
		free(l->texts[i]);
	free(l->texts);
	free(l->v);
	*l = (struct stalls){ .max = l->max };
}

enum blamed stall_blamed(const struct trace_stall *s)
{
	struct blame_facts f = { .cause = s->state,
				 .ns = s->to_ns - s->from_ns,
				 .unread_ns = s->peer_unread_ns,
				 .starved_ns = s->peer_no_cpu_ns,
				 .both_ends = true };

	return s->by_delack && blame_delack_can_cause(s->state) ? BLAME_PEER_DELACK
								: blame_judge(&f).blamed;
}
