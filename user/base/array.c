// SPDX-License-Identifier: GPL-2.0-only
#include "base/array.h"

#include <stdlib.h>

/* In elements, at least one; 0: there is no such number. */
static size_t elements(size_t n, size_t more)
{
	size_t all;

	return __builtin_add_overflow(n, more, &all) ? 0 : all ? all : 1;
}

void *array_new(size_t n, size_t more, size_t size)
{
	size_t all = elements(n, more), bytes;

	/* asked here: a sanitizer's calloc() does not return from a product that overflows */
	return all && !__builtin_mul_overflow(all, size, &bytes) ? calloc(all, size) : NULL;
}

void *array_resize(void *old, size_t n, size_t more, size_t size)
{
	size_t all = elements(n, more), bytes;

	return all && !__builtin_mul_overflow(all, size, &bytes) ? reallocarray(old, all, size)
								 : NULL;
}
