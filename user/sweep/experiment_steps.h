/* SPDX-License-Identifier: GPL-2.0-only */
/* The steps of an experiment are programs of their own: this one for each sweep, Python for the
 * answer. */
#ifndef IPCSTALL_SWEEP_EXPERIMENT_STEPS_H
#define IPCSTALL_SWEEP_EXPERIMENT_STEPS_H

#include <stdbool.h>

#include "sweep/experiment_plan.h"

/* One sweep into DIR/NAME.ndjson; `resume`: go on where a file is unfinished, leave it where it is
 * whole. */
int step_sweep(struct plan_run *r, const char *dir, bool resume, struct err *e);

/* The same with few repeats into DIR/NAME.pilot.ndjson, and from their scatter how many the run
 * itself needs, which it then is told. EXIT_NOISY: the machine is too much disturbed to go on. */
int step_pilot(struct plan_run *r, const char *file, const char *dir, bool quick, bool resume,
	       struct err *e);

/* Run the analysis of FILE on what is in DIR; its exit code, or -1 when it could not be run. */
int step_answer(const char *file, const char *dir, bool quick, struct err *e);

#endif
