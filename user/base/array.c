// SPDX-License-Identifier: GPL-2.0-only
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

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

bool array_grow_to(void *v, size_t n, size_t *room, size_t most, size_t size)
{
	size_t more = *room ? 2 * *room : 64;
	void *p;

	if (n < *room)
		return true;
	more = more < most ? more : most;
	memcpy(&p, v, sizeof(p)); /* whatever it points to */
	p = more > *room ? array_resize(p, more, 0, size) : NULL;
	if (!p)
		return false;
	memcpy(v, &p, sizeof(p));
	*room = more;
	return true;
}

bool array_grow(void *v, size_t n, size_t *room, size_t size)
{
	return array_grow_to(v, n, room, SIZE_MAX, size);
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
