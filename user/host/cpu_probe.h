/* SPDX-License-Identifier: GPL-2.0-only */
/* Two fixed pieces of work, timed. The loop is a chain of dependent multiplications: its time is
 * the inverse of the CPU's real clock rate, whatever sysfs reports. The call is a raw getppid,
 * which is slowed by any tracer of system calls. Each is the minimum of several runs, so an
 * interruption does not count. */
#ifndef IPCSTALL_HOST_CPU_PROBE_H
#define IPCSTALL_HOST_CPU_PROBE_H

struct cpu_probe {
	double loop_ns;	    /* per step of the chain */
	double loop_spread; /* slowest go over fastest: 1.0 is a quiet CPU */
	double call_ns;	    /* per system call */
};

/* About 1.5 ms, on the CPU where the caller runs. */
void cpu_probe_run(struct cpu_probe *c);

#endif
