// SPDX-License-Identifier: GPL-2.0-only
#include "base/evict.h"

#include <stdlib.h>

#include "base/array.h"

void evict_begin(struct evict *h, uint64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), order_u64);
	*h = (struct evict){ .median = v[n / 2] };
}

bool evict_goes(struct evict *h, uint64_t v)
{
	return v < h->median || (v == h->median && h->equal++ % 2);
}
