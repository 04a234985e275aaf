// SPDX-License-Identifier: GPL-2.0-only
#include "stats/hdr.h"

#include <string.h>

static unsigned int shift_of(unsigned int index)
{
	return index < 2 * HDR_SUB ? 0 : (index >> HDR_SUB_BITS) - 1;
}

uint64_t hdr_bucket_lo(unsigned int index)
{
	unsigned int shift = shift_of(index);

	return (uint64_t)(index - (shift << HDR_SUB_BITS)) << shift;
}

uint64_t hdr_bucket_hi(unsigned int index)
{
	return hdr_bucket_lo(index) + ((1ULL << shift_of(index)) - 1);
}

void hdr_reset(struct hdr *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

bool hdr_next(const struct hdr *h, unsigned int *pos, struct hdr_bucket *out)
{
	for (unsigned int i = *pos; i < HDR_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		*out = (struct hdr_bucket){ hdr_bucket_lo(i), hdr_bucket_hi(i), h->bucket[i] };
		*pos = i + 1;
		return true;
	}
	*pos = HDR_BUCKETS;
	return false;
}
