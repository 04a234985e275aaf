/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses the smaller half of many numbers to drop; of those equal to the median every second. */
#ifndef IPCSTALL_BASE_SMALLER_HALF_H
#define IPCSTALL_BASE_SMALLER_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct smaller_half {
	uint64_t median, equal;
};

/* v is sorted by this; n > 0 */
void smaller_half_begin(struct smaller_half *h, uint64_t *v, size_t n);
/* Call once for each number, in any order. */
bool smaller_half_goes(struct smaller_half *h, uint64_t v);

#endif
