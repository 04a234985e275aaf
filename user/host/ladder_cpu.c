// SPDX-License-Identifier: GPL-2.0-only
/* Branches, locks, compression. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <zlib.h>

#include "base/clock.h"
#include "host/ladder.h"
#include "stats/rng.h"

#define BRANCHES (1 << 18) /* too many for any predictor to learn by heart */
#define KB	 1024

/* The asm bodies keep the compiler from turning the branch into a conditional move. */
static uint64_t time_branches(const unsigned char *bits)
{
	uint64_t t0 = now_ns();

	for (int i = 0; i < BRANCHES; i++) {
		if (bits[i])
			__asm__ volatile("" : : "r"(i) : "memory");
		else
			__asm__ volatile("nop" : : "r"(i) : "memory");
	}
	return now_ns() - t0;
}

/* Times the branches over random bits, half of which are mispredicted, and over as many equal bits.
 * The difference from the fastest pass over equal bits is BRANCHES / 2 mispredictions: a disturbed
 * pass over equal bits cannot make it negative. */
int rung_branch_miss(struct ladder *l)
{
	unsigned char *same = calloc(1, BRANCHES), *random = malloc(BRANCHES);
	uint64_t fastest = UINT64_MAX, took[50];
	int n = 50;
	struct rng r;

	if (!same || !random) {
		free(same);
		free(random);
		return ladder_fail(l, "no memory for two tables of 256 KiB");
	}
	for (int i = -5; i < n; i++) {
		uint64_t base;

		rng_seed(&r, l->seed + (uint64_t)(i + 5));
		for (int j = 0; j < BRANCHES; j++)
			random[j] = rng_u64(&r) >> 63;
		took[i < 0 ? 0 : i] = time_branches(random);
		base = time_branches(same);
		fastest = base < fastest ? base : fastest;
	}
	for (int i = 0; i < n; i++)
		l->ns[i] = took[i] > fastest ? (double)(took[i] - fastest) / (BRANCHES / 2) : 0;
	free(same);
	free(random);
	ladder_note(l, "random bits against equal ones, half of the former mispredicted");
	return n;
}

int rung_mutex(struct ladder *l)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	enum { PAIRS = 5000 };

	for (int i = -LADDER_SAMPLES / 10; i < LADDER_SAMPLES; i++) {
		uint64_t t0 = now_ns();

		for (int j = 0; j < PAIRS; j++) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		}
		l->ns[i < 0 ? 0 : i] = (double)(now_ns() - t0) / PAIRS;
	}
	ladder_note(l, "pthread_mutex, always free");
	return LADDER_SAMPLES;
}

static void random_bytes(struct ladder *l, unsigned char *out)
{
	struct rng r;

	rng_seed(&r, l->seed);
	for (int i = 0; i < KB; i++)
		out[i] = (unsigned char)rng_u64(&r);
}

static int deflate_once(z_stream *z, unsigned char *in, unsigned char *out)
{
	if (deflateReset(z) != Z_OK)
		return -1;
	z->next_in = in;
	z->avail_in = KB;
	z->next_out = out;
	z->avail_out = 2 * KB;
	return deflate(z, Z_FINISH) == Z_STREAM_END ? 0 : -1;
}

int rung_deflate(struct ladder *l)
{
	unsigned char in[KB], out[2 * KB];
	z_stream z = { 0 };
	int failed = 0;

	if (deflateInit(&z, 1) != Z_OK)
		return ladder_fail(l, "zlib did not start");
	random_bytes(l, in);
	for (int i = -20; i < LADDER_SAMPLES; i++) {
		uint64_t t0 = now_ns();

		failed |= deflate_once(&z, in, out);
		l->ns[i < 0 ? 0 : i] = (double)(now_ns() - t0);
	}
	deflateEnd(&z);
	if (failed)
		return ladder_fail(l, "zlib could not compress a kilobyte");
	ladder_note(l, "random bytes, zlib %s", zlibVersion());
	return LADDER_SAMPLES;
}

/* snappy is looked up at run time: no build needs it, and every machine that has it gets the
 * row. */
typedef int (*snappy_compress_fn)(const char *in, size_t in_len, char *out, size_t *out_len);

static int run_snappy(struct ladder *l, snappy_compress_fn compress)
{
	unsigned char in[KB];
	char out[2 * KB];

	random_bytes(l, in);
	for (int i = -20; i < LADDER_SAMPLES; i++) {
		size_t len = sizeof(out);
		uint64_t t0 = now_ns();

		if (compress((char *)in, KB, out, &len))
			return ladder_fail(l, "snappy could not compress a kilobyte");
		l->ns[i < 0 ? 0 : i] = (double)(now_ns() - t0);
	}
	ladder_note(l, "random bytes, libsnappy.so.1");
	return LADDER_SAMPLES;
}

/* A static program has no loader (AT_BASE is 0). dlopen() would bring in a second libc. */
int rung_snappy(struct ladder *l)
{
	void *lib = getauxval(AT_BASE) ? dlopen("libsnappy.so.1", RTLD_NOW) : NULL;
	snappy_compress_fn compress =
		lib ? (snappy_compress_fn)dlsym(lib, "snappy_compress") : NULL;
	int n;

	if (!getauxval(AT_BASE))
		return ladder_fail(l, "this program is statically linked, and loads no library");
	if (!compress)
		n = ladder_fail(l, "libsnappy.so.1 is not installed (Debian: libsnappy1v5)");
	else
		n = run_snappy(l, compress);
	if (lib)
		dlclose(lib);
	return n;
}
