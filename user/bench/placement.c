// SPDX-License-Identifier: GPL-2.0-only
/* Which CPU each end runs on, and how it waits there. */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "bench/run.h"

int place_worker(const struct bench_plan *plan, enum role role, struct err *e)
{
	cpu_set_t set;

	if (plan->cpus[role] < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(plan->cpus[role], &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return 0;
	return err_resource(e,
			    "CPU %d: missing, offline or not allowed here; give --cpus from those "
			    "in /proc/self/status",
			    plan->cpus[role]);
}

/* While this file is open and holds 0, idle CPUs stay in the state with no exit latency:
 * cpu_latency_qos_add_request(). */
int stay_awake(enum placement p, struct err *e)
{
	int32_t zero = 0;
	int fd;

	if (p != PLACE_CROSS_AWAKE)
		return -1;
	fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, &zero, sizeof(zero)) == sizeof(zero))
		return fd;
	err_sys(e, EXIT_NO_FEATURE, "run as root, or take --placement cross or spin",
		"/dev/cpu_dma_latency");
	if (fd >= 0)
		close(fd);
	return -2;
}
