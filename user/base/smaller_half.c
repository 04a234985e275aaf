// SPDX-License-Identifier: GPL-2.0-only
#include "base/smaller_half.h"

#include <stdlib.h>

#include "base/array.h"

void smaller_half_begin(struct smaller_half *h, uint64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), order_u64);
	*h = (struct smaller_half){ .median = v[n / 2] };
}

bool smaller_half_goes(struct smaller_half *h, uint64_t v)
{
	return v < h->median || (v == h->median && h->equal++ % 2);
}
