/* SPDX-License-Identifier: GPL-2.0-only */
/* The steps of an experiment are child processes: this program for each run, Python for the answer.
 */
#ifndef IPCSTALL_SWEEP_EXPERIMENT_STEPS_H
#define IPCSTALL_SWEEP_EXPERIMENT_STEPS_H

#include <stdbool.h>

#include "sweep/experiment_plan.h"

/* Runs one sweep into DIR/NAME.ndjson. `resume`: continue an unfinished file, keep a finished one.
 */
int step_sweep(struct plan_run *r, const char *dir, bool resume, struct err *e);

/* Runs the sweep with few repeats into DIR/NAME.pilot.ndjson, and sets r->most to the number of
 * repeats that the run needs by the pilot's scatter. EXIT_NOISY: the machine is too disturbed. */
int step_pilot(struct plan_run *r, const char *file, const char *dir, bool quick, bool resume,
	       struct err *e);

/* Runs the analysis of FILE on the data in DIR. Returns its exit code; -1: it could not be run. */
int step_answer(const char *file, const char *dir, bool quick, struct err *e);

#endif
