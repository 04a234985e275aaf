// SPDX-License-Identifier: GPL-2.0-only
/* Caches and memory: chains of dependent loads, in an order that no prefetcher predicts. */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "host/ladder.h"

#define LINE	   64
#define MB	   (1UL << 20)
#define MEMORY_MAX (512 * MB)

struct line {
	struct line *next;
	char rest[LINE - sizeof(void *)];
};

/* Link the lines into one cycle: line i is followed by (a*i + c) mod n. For n a power of two, a = 1
 * mod 4 and c odd this visits every line (Hull and Dobell), and it is written in one sequential
 * pass, without a shuffled index. */
static struct line *link_cycle(void *memory, size_t bytes)
{
	struct line *lines = memory;
	size_t n = bytes / LINE;

	for (size_t i = 0; i < n; i++)
		lines[i].next = &lines[(i * 2862933555777941757UL + 3037000493UL) & (n - 1)];
	return lines;
}

static void chase(struct ladder *l, struct line *p, int steps)
{
	for (int i = -LADDER_SAMPLES / 10; i < LADDER_SAMPLES; i++) {
		uint64_t t0 = now_ns();

		for (int j = 0; j < steps; j++)
			p = *(struct line *volatile *)&p->next;
		l->ns[i < 0 ? 0 : i] = (double)(now_ns() - t0) / steps;
	}
}

static size_t power_of_two_below(size_t v)
{
	return v ? 1UL << (63 - __builtin_clzl(v)) : 0;
}

static int chase_cache(struct ladder *l, size_t bytes, int steps)
{
	void *memory = aligned_alloc(4096, bytes);

	if (!memory)
		return ladder_fail(l, "no memory for %zu KiB", bytes >> 10);
	chase(l, link_cycle(memory, bytes), steps);
	free(memory);
	ladder_note(l, "dependent loads over %zu KiB", bytes >> 10);
	return LADDER_SAMPLES;
}

int rung_l1(struct ladder *l)
{
	size_t l1 = l->machine.l1d_bytes ? l->machine.l1d_bytes : 32768;

	return chase_cache(l, power_of_two_below(l1 / 2), 20000);
}

/* Well above L1 so that it misses there, well below L2 so that it stays. */
int rung_l2(struct ladder *l)
{
	size_t l1 = l->machine.l1d_bytes, bytes = power_of_two_below(l->machine.l2_bytes / 2);

	if (!l1 || !bytes)
		return ladder_fail(l, "the kernel does not tell this CPU's cache sizes");
	if (bytes < 4 * l1)
		return ladder_fail(l, "L2 is too small against L1 to be told apart");
	return chase_cache(l, bytes > 16 * l1 ? power_of_two_below(16 * l1) : bytes, 20000);
}

/* Huge pages if available: a miss should be one of memory only, and not of the TLB too. */
static bool make_memory(struct ladder *l)
{
	size_t want = power_of_two_below(4 * l->machine.l3_bytes),
	       spare = power_of_two_below(l->machine.memory_bytes / 8);

	if (l->memory)
		return true;
	want = want < 64 * MB ? 64 * MB : want > MEMORY_MAX ? MEMORY_MAX : want;
	want = want > spare ? spare : want;
	l->memory = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->memory == MAP_FAILED)
		l->memory = NULL;
	if (!l->memory)
		return false;
	l->memory_size = want;
	madvise(l->memory, want, MADV_HUGEPAGE);
	link_cycle(l->memory, want);
	return true;
}

static void note_memory(struct ladder *l)
{
	ladder_note(l, "over %zu MiB; the CPU says its last cache has %lu MiB", l->memory_size / MB,
		    (unsigned long)(l->machine.l3_bytes / MB));
}

int rung_memory(struct ladder *l)
{
	if (!make_memory(l))
		return ladder_fail(l, "no memory for a buffer larger than the caches");
	chase(l, (struct line *)l->memory, 2000);
	note_memory(l);
	return LADDER_SAMPLES;
}

static uint64_t sum_words(const uint64_t *v, size_t bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes / sizeof(*v); i++)
		sum += v[i];
	return sum;
}

/* A different megabyte each time, all of them far from those just read. */
int rung_memory_1m(struct ladder *l)
{
	size_t chunks, n;

	if (!make_memory(l))
		return ladder_fail(l, "no memory for a buffer larger than the caches");
	chunks = l->memory_size / MB;
	n = chunks < LADDER_SAMPLES ? chunks : LADDER_SAMPLES;
	for (size_t i = 0; i < n; i++) {
		const char *from = l->memory + (i * (chunks / n)) * MB;
		uint64_t t0 = now_ns(), sum = sum_words((const uint64_t *)from, MB);

		__asm__ volatile("" : : "r"(sum));
		l->ns[i] = (double)(now_ns() - t0);
	}
	note_memory(l);
	return (int)n;
}
