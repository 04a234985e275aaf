// SPDX-License-Identifier: GPL-2.0-only
#include "session/sampling.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_PERCENT 0.01

int sampling_percent(const char *option, const char *of, const char *text, double *share,
		     struct err *e)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) ||
	    !(percent >= LEAST_PERCENT && percent <= 100))
		return err_set(
			e, EXIT_BAD_USAGE,
			"%s '%s': not a percentage %s from %g%% to 100%%; give one, as in %s 0.5%%",
			option, text, of, LEAST_PERCENT, option);
	*share = percent / 100;
	return 0;
}

/* What needs each single episode; NULL: nothing of it was asked for. */
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

int sampling_options(const struct session_opts *o, struct trace_options *filter, struct err *e)
{
	const char *episodes = o->sampled ? wants_episodes(o) : NULL;

	if (o->budget && !o->sampled)
		return err_set(e, EXIT_BAD_USAGE,
			       "--budget without --sampled: the ledger takes what every message "
			       "costs; add --sampled, or leave it out");
	if (!o->sampled)
		return 0;
	if (episodes)
		return err_set(e, EXIT_BAD_USAGE,
			       "%s with --sampled: looks at random instants see no single stall; "
			       "leave one of the two out",
			       episodes);
	if (o->backend)
		return err_set(e, EXIT_BAD_USAGE,
			       "--backend with --sampled: looks need no hook on a message's way; "
			       "leave one of the two out");
	return sampling_percent("--budget", "of one CPU", o->budget ? o->budget : SAMPLING_BUDGET,
				&filter->budget, e);
}
