// SPDX-License-Identifier: GPL-2.0-only
#include "session/sampling.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_PERCENT 0.01

/* "0.5%" as a share; `option` and `of` are for the error: "--budget", "of one CPU". */
static int sampling_percent(const char *option, const char *of, const char *text, double *share,
			    struct err *e)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) ||
	    !(percent >= LEAST_PERCENT && percent <= 100))
		return err_usage(
			e,
			"%s '%s': not a percentage %s from %g%% to 100%%; give one, as in %s 0.5%%",
			option, text, of, LEAST_PERCENT, option);
	*share = percent / 100;
	return 0;
}

/* The option that needs single episodes; NULL: none was given. */
static const char *wants_episodes(const struct session_opts *o)
{
	if (o->threshold_ns)
		return "--threshold";
	if (o->stacks)
		return "--stacks";
	if (o->out[OUT_FOLDED])
		return "--folded";
	if (o->out[OUT_TIMELINE])
		return "--timeline";
	if (o->out[OUT_PERFETTO])
		return "--perfetto";
	return o->record ? "a recording" : NULL;
}

/* The option that only the ledger supports; NULL: none was given. */
static const char *wants_ledger(const struct session_opts *o)
{
	return o->backend ? "--backend" : wants_episodes(o);
}

static int no_samples(const struct session_opts *o, const char *because, struct err *e)
{
	const char *given = o->budget ? "--budget" : o->zoom_budget ? "--zoom-budget" : NULL;

	if (o->sampled)
		return err_usage(e,
				 "%s with --sampled: samples at random instants see no single "
				 "message; leave one out",
				 because);
	if (!given)
		return 0;
	return err_usage(
		e, "%s with %s: --exact traces every message and does not sample; leave one out",
		given, because);
}

int sampling_choose(struct session_opts *o, struct err *e)
{
	const char *because = o->exact ? "--exact" : wants_ledger(o);

	if (because && no_samples(o, because, e))
		return -1;
	o->sampled = !because;
	return 0;
}

int sampling_zoom_budget(const struct session_opts *o, double *share, struct err *e)
{
	const char *text = o->zoom_budget ? o->zoom_budget : ZOOM_BUDGET;

	*share = 0;
	return strcmp(text, "0") ? sampling_percent("--zoom-budget", "of the time", text, share, e)
				 : 0;
}

int sampling_options(const struct session_opts *o, struct trace_options *filter, struct err *e)
{
	if (!o->sampled)
		return 0;
	return sampling_percent("--budget", "of one CPU", o->budget ? o->budget : SAMPLING_BUDGET,
				&filter->budget, e);
}
