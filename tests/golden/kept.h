/* SPDX-License-Identifier: GPL-2.0-only */
/* What the drawers of tests/golden share. */
#ifndef TESTS_GOLDEN_KEPT_H
#define TESTS_GOLDEN_KEPT_H

#include <stdlib.h>

#include "recording/recording.h"
#include "render/paint.h"

/* A recording of tests/corpus, whole. */
static inline void kept_load(const char *path, struct replay *r)
{
	struct recording file;
	struct err e = {};

	trace_cgroup_offline();
	if (recording_open(&file, path, &e) || replay_load(&file, NULL, NULL, 100000, r, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
}

/* In colour where CLICOLOR_FORCE is set. */
static inline enum colour_when kept_colour(void)
{
	return getenv("CLICOLOR_FORCE") ? COLOUR_ALWAYS : COLOUR_NEVER;
}

#endif
