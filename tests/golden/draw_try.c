// SPDX-License-Identifier: GPL-2.0-only
/* What `ipcstall try` says of a kept stall: draw_try SCENE RECORDING. */
#include <math.h>
#include <string.h>

#include "golden/kept.h"
#include "try/case_report.h"

static struct live_case c;
static struct try_opts options = { .windows = 8 };

static void judge(struct live_trial *t, enum trial_outcome outcome)
{
	bool proven = outcome == TRIAL_PROVEN, noisy = outcome == TRIAL_NOISY;

	t->outcome = outcome;
	t->n = 8;
	t->n_unwatched = proven ? 8 : 0;
	t->rate.ratio = proven ? 725 : 1.01;
	t->rate.ci = (struct interval){ proven ? 690 : noisy ? 0.4 : 0.97,
		proven ? 760 : noisy ? 2.7 : 1.04, 0.95, "" };
	t->per_s[0] = 24;
	t->per_s[1] = proven ? 17400 : 24.2;
	t->stall_share[0] = 0.991;
	t->stall_share[1] = proven ? 0.002 : 0.989;
	for (size_t i = 0; i < t->n; i++)
		for (int k = 0; k < TRIAL_WINDOWS; k++)
			t->rounds[i].w[k].delivered = 11176;
}

static void plan(void)
{
	const struct live_fix *fits[LIVE_FIXES_MAX];

	c.window_ns = 459000000;
	c.n = live_fixes_for(c.finding, c.seen.ep[c.finding->endpoint].proto, fits);
	for (size_t i = 0; i < c.n; i++) {
		struct live_trial *t = &c.trials[i];

		t->fix = fits[i];
		t->setting = setting_find(fits[i]->setting);
		t->descriptors = 1;
		snprintf(t->before, sizeof(t->before), "0");
		t->outcome = i ? TRIAL_NOT_RUN : TRIAL_NOISY;
		if (i)
			snprintf(t->why_not, sizeof(t->why_not), "a fix before it is proven");
	}
}

static void sender_stack(void)
{
	static const struct { const char *function; int line; } frames[] = {
		{ "send_header", 41 }, { "answer", 87 }, { "main", 120 } };

	for (c.stack.n = 0; c.stack.n < 3; c.stack.n++) {
		struct call_frame *f = &c.stack.v[c.stack.n];

		snprintf(f->function, sizeof(f->function), "%s", frames[c.stack.n].function);
		snprintf(f->file, sizeof(f->file), "server.c");
		f->line = frames[c.stack.n].line;
	}
}

int main(int argc, char **argv)
{
	struct paint p = paint_on(stdout, kept_colour());
	const char *scene = argc > 2 ? argv[1] : "";
	struct replay r = {};

	if (argc < 3)
		return 2;
	kept_load(argv[2], &r);
	c.o = &options;
	c.seen = r.end;
	c.undone = true;
	verdict_make(&c.seen, &c.verdict);
	c.outcome = CASE_NO_STALL;
	if (c.verdict.n) {
		c.finding = &c.verdict.v[0];
		c.outcome = CASE_TRIED;
		plan();
		sender_stack();
	}
	if (!strcmp(scene, "plan")) {
		case_plan_text(&c, &p);
		return 0;
	}
	for (size_t i = 0; i < c.n && (!i || strcmp(scene, "proven")); i++)
		judge(&c.trials[i], !strcmp(scene, "proven") ? TRIAL_PROVEN
				    : !strcmp(scene, "noisy") ? TRIAL_NOISY
							      : TRIAL_REFUTED);
	case_text(&c, &p);
	return 0;
}
