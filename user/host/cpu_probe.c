// SPDX-License-Identifier: GPL-2.0-only
#include "host/cpu_probe.h"

#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define GOES  9
#define STEPS 50000
#define CALLS 500

static uint64_t time_loop(void)
{
	uint64_t t0 = now_ns(), x = t0 | 1;

	for (int i = 0; i < STEPS; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		__asm__ volatile("" : "+r"(x)); /* so that the compiler cannot compute the chain */
	}
	return now_ns() - t0;
}

static uint64_t time_calls(void)
{
	uint64_t t0 = now_ns();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return now_ns() - t0;
}

void cpu_probe_run(struct cpu_probe *c)
{
	double loop = INFINITY, worst = 0, call = INFINITY;

	for (int i = 0; i < GOES; i++) {
		double ns = (double)time_loop();

		loop = fmin(loop, ns);
		worst = fmax(worst, ns);
		call = fmin(call, (double)time_calls());
	}
	*c = (struct cpu_probe){ .loop_ns = loop / STEPS,
				 .loop_spread = worst / loop,
				 .call_ns = call / CALLS };
}
