// SPDX-License-Identifier: GPL-2.0-only
#include "diagnose/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "stats/rng.h"

void range_free(struct range *r)
{
	free(r->sizes);
	free(r->costs);
	r->sizes = NULL;
	r->costs = NULL;
}

ORDER_BY(cmp_round, struct diag_round, size)

static int cmp_depth(const void *a, const void *b)
{
	const struct band *x = a, *y = b;

	return COMPARE(y->excess_ns, x->excess_ns);
}

static void fill_bands(struct range *r)
{
	struct dip_band found[BANDS_MAX];

	r->n_bands = dips_bands(r->sizes, r->n, found, BANDS_MAX);
	for (size_t i = 0; i < r->n_bands; i++) {
		const struct dip_size *s = &r->sizes[found[i].deepest];

		r->bands[i] = (struct band){ .b = found[i],
					     .cause = DIAG_CAUSES,
					     .excess_ns = s->median - s->lawful,
					     .stall_ns = NAN,
					     .explained = NAN,
					     .explained_lo = NAN };
	}
	qsort(r->bands, r->n_bands, sizeof(r->bands[0]), cmp_depth);
}

/* rounds: sorted by size. */
static void group(struct range *r, const struct diag_round *rounds, size_t n)
{
	r->n = 0;
	for (size_t i = 0; i < n; i++) {
		r->costs[i] = rounds[i].cost_ns;
		if (!r->n || r->sizes[r->n - 1].size != rounds[i].size)
			r->sizes[r->n++] =
				(struct dip_size){ .size = rounds[i].size, .cost = &r->costs[i] };
		r->sizes[r->n - 1].n++;
	}
}

int range_of_rounds(struct range *r, const struct diag_round *rounds, size_t n, uint64_t seed,
		    struct err *e)
{
	struct diag_round *sorted = array_new(n, 1, sizeof(*sorted));
	struct rng rng;

	r->sizes = array_new(n, 1, sizeof(*r->sizes));
	r->costs = array_new(n, 1, sizeof(*r->costs));
	if (!sorted || !r->sizes || !r->costs) {
		free(sorted);
		return err_resource(e, "diagnose: out of memory; give fewer sizes");
	}
	memcpy(sorted, rounds, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), cmp_round);
	group(r, sorted, n);
	free(sorted);
	rng_seed(&rng, seed);
	r->judged = r->n >= RANGE_LEAST && dips_find(r->sizes, r->n, DIAG_LEVEL, &rng) == 0;
	if (r->judged)
		fill_bands(r);
	return 0;
}

static int one_pass(struct diagnosis_run *x, struct diagnosed_workload *p,
		    const struct size_list *sizes, struct rng *rng, struct diag_round *out,
		    struct err *e)
{
	size_t *order = array_new(sizes->n, 0, sizeof(*order));
	int rc = order ? 0 : err_resource(e, "diagnose: out of memory; give fewer sizes");

	for (size_t i = 0; order && i < sizes->n; i++)
		order[i] = i;
	if (order)
		rng_shuffle(rng, order, sizes->n, sizeof(*order));
	for (size_t i = 0; rc == 0 && i < sizes->n; i++) {
		p->size = sizes->v[order[i]];
		rc = diagnose_once(x, p, &out[i], e);
	}
	free(order);
	return rc;
}

int range_measure(struct diagnosis_run *x, struct range *r, enum test test,
		  const struct size_list *sizes, struct err *e)
{
	struct diagnosed_workload *p = calloc(1, sizeof(*p));
	struct diag_round *rounds = array_new(
		(size_t)product((int64_t)sizes->n, (int64_t)x->base_rounds), 0, sizeof(*rounds));
	struct rng rng;
	int rc = p && rounds ? 0 : err_resource(e, "diagnose: out of memory; give fewer sizes");

	*r = (struct range){ .test = test };
	rng_seed(&rng, x->seed);
	if (!x->began_ns)
		x->began_ns = now_ns();
	x->planned += sizes->n * x->base_rounds;
	if (rc == 0) {
		p->test = test;
		rc = variant_open(&p->v, x->options, 0, "", e);
	}
	for (size_t k = 0; rc == 0 && k < x->base_rounds; k++)
		rc = one_pass(x, p, sizes, &rng, rounds + k * sizes->n, e);
	if (rc == 0)
		rc = range_of_rounds(r, rounds, sizes->n * x->base_rounds, x->seed, e);
	if (p)
		diagnosed_workload_free(p);
	free(p);
	free(rounds);
	return rc;
}

void range_explain(const struct range *r, struct band *b, const struct diagnosed_workload *p)
{
	const struct diag_finding *f = p->culprit >= 0 ? &p->stalls.v[p->culprit] : NULL;

	if (!f || f->cause >= TX_N)
		return;
	b->cause = f->cause;
	b->stall_ns = f->ns_per_message;
	b->explained = fmin(1, b->stall_ns / b->excess_ns);
	b->explained_lo =
		f->share > 0 ? fmin(1, b->stall_ns * f->lost.lo / f->share / b->excess_ns) : NAN;
}
