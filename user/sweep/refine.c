// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/refine.h"

#include <stdlib.h>

#include "base/array.h"
#include "stats/rng.h"
#include "stats/dips.h"

#define LEVEL 0.95

int refine_note(struct refiner *r, uint32_t series, int64_t size, double cost)
{
	if (!array_grow(&r->v, r->n, &r->room, sizeof(*r->v)))
		return -1;
	r->v[r->n++] = (struct refine_seen){ series, size, cost };
	return 0;
}

void refine_free(struct refiner *r)
{
	free(r->v);
	*r = (struct refiner){};
}

ORDER_BY(cmp_size, struct refine_seen, size)

struct table {
	struct refine_seen *seen;
	struct dip_size *sizes;
	double *costs;
	size_t n;
};

static void table_free(struct table *t)
{
	free(t->seen);
	free(t->sizes);
	free(t->costs);
}

/* Sorts the measurements of one series by size. */
static int table_make(const struct refiner *r, uint32_t series, struct table *t)
{
	size_t n = 0;

	*t = (struct table){ array_resize(NULL, r->n, 1, sizeof(*t->seen)),
			     array_new(r->n, 1, sizeof(*t->sizes)),
			     array_resize(NULL, r->n, 1, sizeof(double)), 0 };
	if (!t->seen || !t->sizes || !t->costs)
		return -1;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].series == series)
			t->seen[n++] = r->v[i];
	qsort(t->seen, n, sizeof(*t->seen), cmp_size);
	for (size_t i = 0; i < n; i++) {
		t->costs[i] = t->seen[i].cost;
		if (!t->n || t->sizes[t->n - 1].size != t->seen[i].size)
			t->sizes[t->n++] =
				(struct dip_size){ .size = t->seen[i].size, .cost = &t->costs[i] };
		t->sizes[t->n - 1].n++;
	}
	return 0;
}

bool refine_next(const struct refiner *r, uint32_t series, int64_t *size)
{
	struct table t;
	struct rng rng;
	bool found = false;

	rng_seed(&rng, r->seed);
	if (table_make(r, series, &t) == 0 && dips_find(t.sizes, t.n, LEVEL, &rng) == 0) {
		for (size_t i = 0; !found && i + 1 < t.n; i++) {
			const struct dip_size *a = &t.sizes[i], *b = a + 1;

			found = dips_edge(a, b) && b->size - a->size > 1;
			*size = a->size + (b->size - a->size) / 2;
		}
	}
	table_free(&t);
	return found;
}
