// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "sweep/sweep.h"

const struct variable *sweep_size(const struct cells *c)
{
	for (size_t i = 0; i < c->n_v; i++)
		if (!strcmp(c->v[i].row->name, "size"))
			return &c->v[i];
	return NULL;
}

uint32_t sweep_series(const struct cells *c, size_t cell, int test)
{
	size_t series = 0, scale = 1;

	for (size_t i = 0; i < c->n_v; i++) {
		if (&c->v[i] != sweep_size(c)) {
			series += cell % c->v[i].n * scale;
			scale *= c->v[i].n;
		}
		cell /= c->v[i].n;
	}
	return (uint32_t)(series * TESTS + (size_t)test);
}

/* A point in which no message arrived has no cost to note. */
int sweep_note_cost(struct sweep *s, size_t cell, int test, int64_t size, double cost_ns,
		    struct err *e)
{
	if (!s->o->refine || test == TEST_CONNECT || !(cost_ns > 0))
		return 0;
	if (refine_note(&s->refiner, sweep_series(&s->cells, cell, test), size, cost_ns))
		return err_resource(e, "sweep: out of memory; give fewer values or no --refine");
	return 0;
}
