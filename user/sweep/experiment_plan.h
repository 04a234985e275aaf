/* SPDX-License-Identifier: GPL-2.0-only */
/* An experiment file: Markdown for people, with one fenced json block that lists the runs. Only the
 * title and the runs are read here; analysis/experiment reads the claims and the figures. */
#ifndef IPCSTALL_SWEEP_EXPERIMENT_PLAN_H
#define IPCSTALL_SWEEP_EXPERIMENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { PLAN_RUNS_MAX = 12, PLAN_PARTS_MAX = 8, PLAN_WORDS_MAX = 96 };

enum plan_kind { PLAN_SWEEP, PLAN_HOST, PLAN_BENCH };

struct plan_run {
	const char *name;	     /* names the data file too */
	char *words[PLAN_WORDS_MAX]; /* of the command, without the program's name; NULL-terminated
				      */
	size_t n;
	enum plan_kind kind; /* a sweep; clock, syscall or machine; a benchmark with its
				timeline */
	int pilot, most;     /* repeats of the pilot, from whose scatter the run's are computed, and
				their limit; 0: the command sets the repeats */
};

struct plan {
	char *text, *title;
	struct plan_run runs[PLAN_RUNS_MAX];
	size_t n;
	const char *parts[PLAN_PARTS_MAX]; /* other experiments, which run first */
	size_t n_parts;
	void *json; /* owns the names */
};

int plan_read(struct plan *p, const char *path, bool quick, struct err *e);
void plan_free(struct plan *p);

/* Reads only the title of a Markdown file; false: it has none. */
bool plan_title(const char *path, char *buf, size_t len);

#endif
