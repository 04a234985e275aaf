/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the host took from the processes below this one, from taken_start() to taken_report(): CPU
 * time that the hypervisor kept (stolen), CPU time that programs of others got, and how late a
 * thread woke at worst that asks for next to nothing. Where this is enough to make a figure against
 * a clock wrong, the report says "noisy: WHY", else "quiet: WHY".
 */
#ifndef TESTS_HOST_TAKEN_H
#define TESTS_HOST_TAKEN_H

void taken_start(void);
void taken_report(const char *path);

#endif
