// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an experiment file: it is read or refused, and what is read only measures. */
#include "sweep/experiment_plan.h"

#include "fuzz/fuzz.h"

static bool measures(const char *command)
{
	static const char *const commands[] = { "sweep", "bench", "clock", "syscall", "machine" };

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(command, commands[i]))
			return true;
	return false;
}

static void check_plan(const struct plan *p)
{
	MUST(p->title && p->n + p->n_parts >= 1 && p->n <= PLAN_RUNS_MAX);
	for (size_t i = 0; i < p->n; i++) {
		MUST(p->runs[i].n >= 1 && p->runs[i].n < PLAN_WORDS_MAX);
		MUST(measures(p->runs[i].words[0]));
		MUST(!strchr(p->runs[i].name, '/') && p->runs[i].name[0] != '.');
		MUST(!p->runs[i].words[p->runs[i].n]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file m = memory_file_open(data, size);
	char title[64];

	for (int quick = 0; quick < 2; quick++) {
		struct err e = {};
		struct plan p;

		if (plan_read(&p, m.path, quick, &e) == 0)
			check_plan(&p);
		else
			must_be_refusal(&e);
		plan_free(&p);
	}
	if (plan_title(m.path, title, sizeof(title)))
		MUST(strlen(title) < sizeof(title) && !strchr(title, '\n'));
	memory_file_close(&m);
	return 0;
}
