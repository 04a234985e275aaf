// SPDX-License-Identifier: GPL-2.0-only
#include "base/index.h"

#include <stdlib.h>

#include "base/array.h"

/* Multiplicative hashing: the upper bits of the product depend on all of the key. */
static size_t slot_of(const struct index *x, uint64_t key)
{
	size_t at = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (x->room - 1);

	while (x->v[at].key && x->v[at].key != key)
		at = (at + 1) & (x->room - 1);
	return at;
}

uint32_t index_find(const struct index *x, uint64_t key)
{
	return x->room && key ? x->v[slot_of(x, key)].value : 0;
}

static bool grow(struct index *x)
{
	struct index wider = { .room = x->room ? 2 * x->room : 64, .n = x->n };

	wider.v = array_new(wider.room, 0, sizeof(*wider.v));
	if (!wider.v)
		return false;
	for (size_t i = 0; i < x->room; i++)
		if (x->v[i].key)
			wider.v[slot_of(&wider, x->v[i].key)] = x->v[i];
	free(x->v);
	*x = wider;
	return true;
}

bool index_set(struct index *x, uint64_t key, uint32_t value)
{
	struct index_slot *s;

	if (4 * (x->n + 1) > 3 * x->room && !grow(x))
		return false;
	s = &x->v[slot_of(x, key)];
	x->n += !s->key;
	*s = (struct index_slot){ key, value };
	return true;
}

void index_free(struct index *x)
{
	free(x->v);
	*x = (struct index){};
}
