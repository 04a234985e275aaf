// SPDX-License-Identifier: GPL-2.0-only
#include "render/histogram_text.h"

#include <inttypes.h>

#include "base/human.h"

enum { POWERS = 64, RANGE_W = 25, SHARE_W = 10, COUNT_W = 12, COUNT_FROM = 55, BAR_MOST = 60 };

static unsigned int power_of(uint64_t v)
{
	return v ? 63 - (unsigned int)__builtin_clzll(v) : 0;
}

/* A bucket never lies across a power of two. */
static void by_power(const struct hdr *h, uint64_t n[POWERS])
{
	struct hdr_bucket b;
	unsigned int pos = 0;

	while (hdr_next(h, &pos, &b))
		n[power_of(b.lo)] += b.count;
}

static uint64_t largest(const uint64_t n[POWERS])
{
	uint64_t most = 0;

	for (int i = 0; i < POWERS; i++)
		most = n[i] > most ? n[i] : most;
	return most;
}

static void one_power(unsigned int power, uint64_t n, uint64_t most, uint64_t all, int width,
		      const struct paint *p)
{
	char from[32], to[32], range[80];

	human_ns((double)(1ull << power), from, sizeof(from));
	human_ns(2 * (double)(1ull << power), to, sizeof(to));
	snprintf(range, sizeof(range), "%s to %s", from, to);
	fprintf(p->out, "  %-*s", RANGE_W - 2, range);
	paint_bar(p, INK_GREEN, (double)n / (double)most, width);
	fprintf(p->out, " %6.2f %%", 100.0 * (double)n / (double)all);
	if (p->width >= COUNT_FROM)
		fprintf(p->out, " %11" PRIu64, n);
	fputc('\n', p->out);
}

/* The number of empty ranges from `i` on. */
static unsigned int empty_run(const uint64_t n[POWERS], unsigned int i)
{
	unsigned int end = i;

	while (end < POWERS && !n[end])
		end++;
	return end - i;
}

enum { RUN_FOLDED = 3 };

void histogram_print(const struct hdr *h, const struct paint *p)
{
	uint64_t n[POWERS] = {}, most;
	int width = p->width - RANGE_W - SHARE_W - (p->width >= COUNT_FROM ? COUNT_W : 0);

	if (!h || !h->count)
		return;
	by_power(h, n);
	most = largest(n);
	if (width > BAR_MOST)
		width = BAR_MOST;
	for (unsigned int i = power_of(h->min); i <= power_of(h->max); i++) {
		unsigned int run = empty_run(n, i);

		if (run >= RUN_FOLDED) {
			fputs("  ...\n", p->out);
			i += run - 1;
			continue;
		}
		one_power(i, n[i], most, h->count, width > 1 ? width : 1, p);
	}
}
