/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the findings of `clock`, `syscall` and `machine` to fit any screen width. */
#ifndef IPCSTALL_RENDER_HOST_TEXT_H
#define IPCSTALL_RENDER_HOST_TEXT_H

#include <stdio.h>

#include "base/clock.h"
#include "host/call_probe.h"
#include "host/clock_probe.h"
#include "host/ladder.h"
#include "host/noise.h"

#define CALLS_MAX 32
#define RUNGS_MAX 32

struct clock_findings {
	struct tsc_facts facts;
	struct tick_clock clock;
	struct clock_probe probe[CLOCK_PROBES];
	int n;
};

struct call_findings {
	struct summary raw[CALLS_MAX], libc[CALLS_MAX];
	int n;
	struct noise_report noise;
};

struct rung_result {
	bool known;
	struct summary s;
	char note[LADDER_WHY];
};

struct machine_findings {
	struct machine machine;
	const struct build *build;
	struct rung_result rung[RUNGS_MAX];
	int n;
	struct noise_report noise;
};

void clock_text(const struct clock_findings *f, FILE *out);
void calls_text(const struct call_findings *f, FILE *out);
void machine_text(const struct machine_findings *f, FILE *out);

#endif
