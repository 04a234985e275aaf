// SPDX-License-Identifier: GPL-2.0-only
#include "lib/hdr.h"

#include <math.h>
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

void hdr_merge(struct hdr *into, const struct hdr *from)
{
	for (unsigned int i = 0; i < HDR_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	into->count += from->count;
	into->sum += from->sum;
	into->min = from->min < into->min ? from->min : into->min;
	into->max = from->max > into->max ? from->max : into->max;
}

/* The midpoint stands for the bucket, but never outside what was seen: a clamp only moves it nearer. */
static double representative(const struct hdr *h, unsigned int index)
{
	uint64_t lo = hdr_bucket_lo(index);
	double mid = (double)lo + (double)(hdr_bucket_hi(index) - lo) / 2;

	return fmin(fmax(mid, (double)h->min), (double)h->max);
}

/* Index of the bucket that holds the sample of this rank (0 is the smallest); rank < count. */
static unsigned int bucket_of_rank(const struct hdr *h, uint64_t rank)
{
	unsigned int last = hdr_index(h->max);
	uint64_t below = 0;

	for (unsigned int i = hdr_index(h->min); i < last; i++) {
		below += h->bucket[i];
		if (rank < below)
			return i;
	}
	return last;
}

double hdr_quantile(const struct hdr *h, double q)
{
	double pos, lo, hi;
	uint64_t rank;

	if (!h->count || !(q >= 0 && q <= 1))
		return NAN;
	pos = (double)(h->count - 1) * q;
	rank = (uint64_t)pos;
	if (rank >= h->count - 1)
		return (double)h->max;
	if (pos == 0)
		return (double)h->min;
	lo = representative(h, bucket_of_rank(h, rank));
	if (pos == (double)rank)
		return lo;
	hi = representative(h, bucket_of_rank(h, rank + 1));
	return lo + (hi - lo) * (pos - (double)rank);
}

double hdr_mean(const struct hdr *h)
{
	return h->count ? (double)h->sum / (double)h->count : NAN;
}

uint64_t hdr_count_above(const struct hdr *h, uint64_t v)
{
	uint64_t n = 0;

	for (unsigned int i = hdr_index(v) + 1; i < HDR_BUCKETS; i++)
		n += h->bucket[i];
	return n;
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
