// SPDX-License-Identifier: GPL-2.0-only
/* SIGINT and SIGTERM end the current point, not the process. */
#include "bench/bench.h"

volatile sig_atomic_t bench_interrupted;

static void on_signal(int sig)
{
	bench_interrupted = sig;
}

/* Both are blocked except inside ppoll(), so that none can come between the test of
 * bench_interrupted and the wait. */
void bench_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t set;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}
