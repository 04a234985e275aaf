/* SPDX-License-Identifier: GPL-2.0-only */
/* The cells of a sweep: every combination of the varied options' values, in random order, so that
 * noise does not favour a value. */
#ifndef IPCSTALL_SWEEP_CELLS_H
#define IPCSTALL_SWEEP_CELLS_H

#include "base/opt.h"

enum { VARY_MAX = 6, CELLS_MAX = 1000000 };

struct variable {
	const struct opt *row; /* any option of the benchmark */
	char **values;	       /* texts for opt_set() */
	size_t n;
};

struct cells {
	struct variable v[VARY_MAX];
	size_t n_v;
	size_t n; /* combinations */
	uint64_t repeats;
	uint64_t seed;
	size_t together; /* the variable whose values run back to back; n_v: none */
	uint32_t
		*order; /* n * repeats indexes of combinations: a random permutation per repeat */
};

/* texts: "size=1453:21000:+500", "nodelay=0,1", "cc=cubic,reno"; together: the name of one of these
 * variables, or NULL */
int cells_make(struct cells *c, const struct opt *rows, const struct str_list *texts,
	       const char *together, uint64_t repeats, uint64_t seed, struct err *e);
void cells_free(struct cells *c);

/* The value of variable `v` in combination `cell`. */
const char *cells_value(const struct cells *c, size_t cell, size_t v);
/* Sets every varied option in `into` to its value in `cell`. */
int cells_apply(const struct cells *c, size_t cell, void *into, struct err *e);

#endif
