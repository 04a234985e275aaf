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
	size_t all = elements(n, more);

	return all ? calloc(all, size) : NULL;
}

void *array_resize(void *old, size_t n, size_t more, size_t size)
{
	size_t all = elements(n, more);

	return all ? reallocarray(old, all, size) : NULL;
}
