/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for a number of elements. The number may come from a file or from another host: if the
 * product overflows, the allocation fails, and is never too small. */
#ifndef IPCSTALL_BASE_ARRAY_H
#define IPCSTALL_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n + more elements, all zero, at least one. NULL: not enough memory. */
void *array_new(size_t n, size_t more, size_t size);
/* Resize to n + more elements; new ones are not initialised. NULL: not enough memory, and `old` is
 * unchanged. */
void *array_resize(void *old, size_t n, size_t more, size_t size);
/* Room for an element at (*v)[n], where v is the address of a pointer: doubles *room if need be, to
 * `most` at most. False: there is none, and nothing changed. */
bool array_grow_to(void *v, size_t n, size_t *room, size_t most, size_t size);
bool array_grow(void *v, size_t n, size_t *room, size_t size);

/* -1, 0 or 1: a is less than b, equal, greater. Order by two fields: COMPARE() ?: COMPARE(). */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* A function for qsort() and bsearch(): the type is ordered by one field, the smallest first. */
#define ORDER_BY(name, type, field)                   \
	static int name(const void *a, const void *b) \
	{                                             \
		const type *x = a, *y = b;            \
                                                      \
		return COMPARE(x->field, y->field);   \
	}

/* For qsort() and bsearch() of uint64_t. */
int order_u64(const void *a, const void *b);

/* Sort the numbers and remove duplicates. Returns how many remain. */
size_t array_unique(uint64_t *v, size_t n);
/* The index of the first element of a sorted array that does not come before `want`. */
size_t array_lower_bound(const void *want, const void *v, size_t n, size_t size,
			 int (*order)(const void *, const void *));

/* Saturating product and sum of amounts that a user asked for: INT64_MAX on overflow. Neither
 * operand is negative. */
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
