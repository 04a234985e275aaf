/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of nanoseconds with bounded relative error, for any 64-bit value.
 *
 * Each power of two is cut into 128 equal buckets; below 256 every value has its own. A bucket is
 * reported by its midpoint, which lies within 1/256 (0.39 %) of every value in it: HDR_REL_ERROR.
 * Count, sum, minimum and maximum are exact. Recording touches one counter, finds it without a
 * branch, and never allocates.
 */
#ifndef IPCSTALL_STATS_HDR_H
#define IPCSTALL_STATS_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define HDR_SUB_BITS  7
#define HDR_SUB	      (1u << HDR_SUB_BITS)
#define HDR_BUCKETS   ((64 - HDR_SUB_BITS + 1) * HDR_SUB)
#define HDR_REL_ERROR (1.0 / (2 * HDR_SUB))

struct hdr {
	uint64_t count, sum, min, max; /* min is UINT64_MAX while empty */
	uint64_t bucket[HDR_BUCKETS];
};

struct hdr_bucket {
	uint64_t lo, hi; /* values lo..hi, both included */
	uint64_t count;
};

static inline unsigned int hdr_index(uint64_t v)
{
	unsigned int shift = 63 - HDR_SUB_BITS - __builtin_clzll(v | HDR_SUB);

	return (shift << HDR_SUB_BITS) + (unsigned int)(v >> shift);
}

static inline void hdr_record_n(struct hdr *h, uint64_t v, uint64_t n)
{
	h->bucket[hdr_index(v)] += n;
	h->count += n;
	h->sum += v * n;
	h->min = v < h->min ? v : h->min;
	h->max = v > h->max ? v : h->max;
}

static inline void hdr_record(struct hdr *h, uint64_t v)
{
	hdr_record_n(h, v, 1);
}

void hdr_reset(struct hdr *h); /* also the way to make a fresh one valid */

/* Walk the buckets that hold something, lowest first: start with *pos = 0, stop at false. */
bool hdr_next(const struct hdr *h, unsigned int *pos, struct hdr_bucket *out);

uint64_t hdr_bucket_lo(unsigned int index);
uint64_t hdr_bucket_hi(unsigned int index);

#endif
