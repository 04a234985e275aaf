/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a result was made: the machine, its kernel, and the build of this program. What cannot be
 * read is "" or 0 (unknown). */
#ifndef IPCSTALL_HOST_MACHINE_H
#define IPCSTALL_HOST_MACHINE_H

#include <stdint.h>

struct machine {
	char hostname[65], kernel[65], kernel_build[128], arch[65], distribution[128];
	char cpu_model[128];
	int cpus_online, cpus_configured;
	uint64_t memory_bytes, l1d_bytes, l2_bytes, l3_bytes;
	char virtualisation[64]; /* "none", or the hypervisor's hint */
	char clocksource[32], governor[32], idle_driver[32], preemption[64];
	char lockdown[64];
	char mitigations[256]; /* the ones in force, and those the kernel calls "Vulnerable" */
};

void machine_read(struct machine *m);

struct build {
	const char *version, *git, *compiler, *flags, *sanitizers, *flavour;
};

extern const struct build build;

#endif
