/* SPDX-License-Identifier: GPL-2.0-only */
/* An experiment file: Markdown for people, with one fenced json block that says what is run. The
 * prose, the claims and the figures are for analysis/experiment; here only the title and the runs
 * are wanted. */
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
	enum plan_kind kind; /* a sweep; of the machine alone: clock, syscall, machine; one
				benchmark, with its timeline */
	int pilot, most;     /* repeats before, from which the number is reckoned, and the most of
				that; 0: the command says how many */
};

struct plan {
	char *text, *title;
	struct plan_run runs[PLAN_RUNS_MAX];
	size_t n;
	const char *parts[PLAN_PARTS_MAX]; /* other experiments, carried out before */
	size_t n_parts;
	void *json; /* holds the names */
};

int plan_read(struct plan *p, const char *path, bool quick, struct err *e);
void plan_free(struct plan *p);

/* The title alone, of any Markdown file; false when it has none. */
bool plan_title(const char *path, char *buf, size_t len);

#endif
