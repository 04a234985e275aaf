/* SPDX-License-Identifier: GPL-2.0-only */
/* Which host an end is on, and whether two ends share a clock. */
#ifndef IPCSTALL_REMOTE_HOST_H
#define IPCSTALL_REMOTE_HOST_H

#include <jansson.h>
#include <stdbool.h>

struct host_id {
	char name[65], kernel[65], version[32];
	char boot_id[40]; /* of this boot of the kernel; containers on one host share it */
	char time_ns[40]; /* the time namespace: CLOCK_MONOTONIC differs between two */
	char clock[16];	  /* the clock of the stamps: tsc, monotonic */
};

void host_read(struct host_id *h, const char *clock);
json_t *host_to_json(const struct host_id *h);
void host_from_json(struct host_id *h, const json_t *o);
/* Can stamps of the two be compared? False if that is unknown. */
bool host_shares_clock(const struct host_id *a, const struct host_id *b);

#endif
