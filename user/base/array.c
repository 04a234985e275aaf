// SPDX-License-Identifier: GPL-2.0-only
#include "base/array.h"

#include <stdlib.h>

/* n + more, at least one; 0 on overflow. */
static size_t elements(size_t n, size_t more)
{
	size_t all;

	return __builtin_add_overflow(n, more, &all) ? 0 : all ? all : 1;
}

void *array_new(size_t n, size_t more, size_t size)
{
	size_t all = elements(n, more), bytes;

	/* checked here: a sanitizer's calloc() does not return if the product overflows */
	return all && !__builtin_mul_overflow(all, size, &bytes) ? calloc(all, size) : NULL;
}

void *array_resize(void *old, size_t n, size_t more, size_t size)
{
	size_t all = elements(n, more), bytes;

	return all && !__builtin_mul_overflow(all, size, &bytes) ? reallocarray(old, all, size)
								 : NULL;
}

size_t array_lower_bound(const void *want, const void *v, size_t n, size_t size,
			 int (*order)(const void *, const void *))
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (order((const char *)v + mid * size, want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int order_u64(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

size_t array_unique(uint64_t *v, size_t n)
{
	size_t out = 0;

	qsort(v, n, sizeof(*v), order_u64);
	for (size_t i = 0; i < n; i++)
		if (!out || v[out - 1] != v[i])
			v[out++] = v[i];
	return out;
}
