// SPDX-License-Identifier: GPL-2.0-only
#include "base/evict.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void evict_begin(struct evict *h, uint64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_number);
	*h = (struct evict){ .median = v[n / 2] };
}

bool evict_goes(struct evict *h, uint64_t v)
{
	return v < h->median || (v == h->median && h->equal++ % 2);
}
