// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

bool symbols_add(struct symbols *s, uint64_t addr, uint64_t size, const char *name)
{
	if (!array_grow(&s->v, s->n, &s->room, sizeof(*s->v)))
		return false;
	s->v[s->n] = (struct symbol){ addr, size, strdup(name) };
	if (!s->v[s->n].name)
		return false;
	text_clean(s->v[s->n].name, strlen(name) + 1); /* a name that others chose */
	s->n++;
	return true;
}

ORDER_BY(by_addr, struct symbol, addr)

void symbols_sort(struct symbols *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_addr);
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t addr)
{
	struct symbol next = { .addr = addr + 1 };
	size_t n = array_lower_bound(&next, s->v, s->n, sizeof(next), by_addr);
	const struct symbol *found = n ? &s->v[n - 1] : NULL;

	if (!found)
		return NULL;
	return !found->size || addr - found->addr < found->size ? found : NULL;
}
