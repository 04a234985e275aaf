/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses the smaller half of many numbers to drop; of those equal to the median every second. */
#ifndef IPCSTALL_BASE_EVICT_H
#define IPCSTALL_BASE_EVICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evict {
	uint64_t median, equal;
};

/* v is sorted by this; n > 0 */
void evict_begin(struct evict *h, uint64_t *v, size_t n);
/* Call once for each number, in any order. */
bool evict_goes(struct evict *h, uint64_t v);

#endif
