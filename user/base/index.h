/* SPDX-License-Identifier: GPL-2.0-only */
/* Hash map from 64-bit to 32-bit numbers, open addressing. Keys and values are never 0. Zeroed
 * memory is an empty map. */
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
/* Add a key, or replace its value. false: no memory */
bool index_set(struct index *x, uint64_t key, uint32_t value);
void index_free(struct index *x);

#endif
