// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "stats/dips.h"
#include "sweep/sweep.h"

/* Checks that there is one message size; a connect test needs none. */
static int check_size(const struct bench_plan *plan, bool given, struct err *e)
{
	if (plan->o.sizes.n == 1 || plan->tests == 1u << TEST_CONNECT)
		return 0;
	return given ? err_usage(e,
				 "sweep: %zu sizes in --size; vary them instead: --vary size=...",
				 plan->o.sizes.n)
		     : err_usage(
			       e,
			       "sweep: no message size given; use --size SIZE, or --vary size=...");
}

static bool varies(const struct sweep *s, const char *name)
{
	for (size_t i = 0; i < s->cells.n_v; i++)
		if (strcmp(s->cells.v[i].row->name, name) == 0)
			return true;
	return false;
}

/* Some tests set TCP_NODELAY even without --nodelay, so that nodelay=0 and 1 would be the same. */
static int check_nodelay(const struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	for (int t = 0; t < TESTS && !plan->o.nodelay && varies(s, "nodelay"); t++)
		if (plan->tests >> t & 1 && bench_nodelay(plan, (enum test)t))
			return err_usage(
				e,
				"sweep: --vary nodelay=0 with --test %s, which sets TCP_NODELAY "
				"itself; vary nagle=0,1, or choose another test",
				test_name((enum test)t));
	return 0;
}

/* Checks every combination before the first one runs: a bad one must not be found hours later. */
static int check_cells(struct sweep *s, struct bench_plan *first, const struct opt_operands *given,
		       struct err *e)
{
	unsigned int uses = 0;

	for (size_t c = s->cells.n; c-- > 0;) {
		if (cells_apply(&s->cells, c, &s->o->bench, e) ||
		    bench_plan(&s->o->bench, first, e) ||
		    check_size(first, opt_given(given, "size"), e) || check_nodelay(s, first, e))
			return -1;
		uses |= bench_uses(first);
	}
	for (size_t i = 0; i < s->cells.n_v; i++)
		if (unused_options_check(uses, s->cells.v[i].row->name, e))
			return -1;
	return unused_options_check_all(uses, given, e);
}

static int check_refine(const struct sweep *s, struct err *e)
{
	if (!s->o->refine)
		return 0;
	if (!sweep_size(&s->cells))
		return err_usage(e, "--refine: the size does not vary, so no dip can be refined; "
				    "give --vary size=FIRST:LAST:+STEP");
	if (s->cells.repeats < DIPS_REPEATS_LEAST)
		return err_usage(e,
				 "--refine: %llu repeats cannot tell a dip from chance; give "
				 "--repeats %d or more",
				 (unsigned long long)s->cells.repeats, DIPS_REPEATS_LEAST);
	return 0;
}

/* Rejects a value for an option that varies, as it would never be used. The seed is excepted: it
 * also determines the order. */
static int check_given(const struct sweep *s, const struct opt_operands *given, struct err *e)
{
	for (size_t i = 0; i < s->cells.n_v; i++) {
		const char *name = s->cells.v[i].row->name;

		if (opt_given(given, name) && strcmp(name, "seed"))
			return err_usage(e, "--%s and --vary %s set the same option; leave one out",
					 name, name);
	}
	return bench_check_given(&s->o->bench, given, e);
}

int sweep_plan(struct sweep *s, struct bench_plan *first, const struct opt_operands *given,
	       struct err *e)
{
	const struct sweep_opts *o = s->o;

	s->insists = o->bench.trace && opt_given(given, "trace");
	if (cells_make(&s->cells, bench_option_rows, &o->vary, o->together, (uint64_t)o->repeats,
		       (uint64_t)o->bench.seed, e))
		return -1;
	return check_given(s, given, e) || check_refine(s, e) || check_cells(s, first, given, e)
		       ? -1
		       : 0;
}
