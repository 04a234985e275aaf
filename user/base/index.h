/* SPDX-License-Identifier: GPL-2.0-only */
/* A number found by another: 64 bits to 32, open addressing. Neither is 0. Zeroes are empty. */
#ifndef IPCSTALL_BASE_INDEX_H
#define IPCSTALL_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
	uint64_t key;
	uint32_t value;
};

struct index {
	struct index_slot *v;
	size_t n, room; /* room: a power of two */
};

uint32_t index_find(const struct index *x, uint64_t key); /* 0: it is not there */
/* A key that is there gets the new value. false: no memory */
bool index_set(struct index *x, uint64_t key, uint32_t value);
void index_free(struct index *x);

#endif
