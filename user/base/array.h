/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for a number of elements. The number may come from a file or from another host: a product
 * that overflows is no memory, never too little. */
#ifndef IPCSTALL_BASE_ARRAY_H
#define IPCSTALL_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* n + more elements, all zero, at least one. NULL: there is not so much memory. */
void *array_new(size_t n, size_t more, size_t size);
/* The same array with room for n + more; what is new in it is not set. NULL: there is not so much
 * memory, and the old one stands. */
void *array_resize(void *old, size_t n, size_t more, size_t size);

/* Sorts them, and keeps one of those that are equal. Returns how many that leaves. */
size_t array_unique(uint64_t *v, size_t n);
/* Of a sorted array the index of the first element that does not come before this one. */
size_t array_lower_bound(const void *want, const void *v, size_t n, size_t size,
			 int (*order)(const void *, const void *));

/* Products of what a user asked for: beyond the type it is the most that the type holds. Neither is
 * negative. */
static inline int64_t product(int64_t a, int64_t b)
{
	int64_t v;

	return __builtin_mul_overflow(a, b, &v) ? INT64_MAX : v;
}

static inline int64_t sum(int64_t a, int64_t b)
{
	int64_t v;

	return __builtin_add_overflow(a, b, &v) ? INT64_MAX : v;
}

#endif
