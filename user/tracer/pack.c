// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot in little memory: each endpoint, its detail and its samples, as a bitmap with a bit
 * for each word, and the words that are not zero. */
#include "tracer/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tracer/closed_sums.h"

#define WORD_BITS      64
#define WORDS_OF(type) (sizeof(type) / sizeof(uint64_t))
#define BITMAP(words)  (((words) + WORD_BITS - 1) / WORD_BITS)
#define MOST(type)     (BITMAP(WORDS_OF(type)) + WORDS_OF(type))

_Static_assert(sizeof(struct trace_endpoint) % sizeof(uint64_t) == 0 &&
		       sizeof(struct trace_detail) % sizeof(uint64_t) == 0 &&
		       sizeof(struct trace_samples) % sizeof(uint64_t) == 0,
	       "none has a part of a word at its end");

struct packed_endpoint {
	uint64_t serial;
	size_t at; /* in words[] */
	bool has_detail;
};

struct packing {
	uint64_t *words;
	size_t n, room;
};

static uint64_t word_at(const void *v, size_t i)
{
	uint64_t word;

	memcpy(&word, (const char *)v + i * sizeof(word), sizeof(word));
	return word;
}

/* The caller has made room. */
static void pack_words(struct packing *p, const void *v, size_t n)
{
	uint64_t *bitmap = p->words + p->n;

	memset(bitmap, 0, BITMAP(n) * sizeof(*bitmap));
	p->n += BITMAP(n);
	for (size_t i = 0; i < n; i++) {
		uint64_t word = word_at(v, i);

		if (!word)
			continue;
		bitmap[i / WORD_BITS] |= 1ull << i % WORD_BITS;
		p->words[p->n++] = word;
	}
}

/* Returns the end of the packed words. */
static const uint64_t *unpack_words(const uint64_t *packed, void *out, size_t n)
{
	const uint64_t *bitmap = packed, *next = packed + BITMAP(n);

	memset(out, 0, n * sizeof(*next));
	for (size_t i = 0; i < n; i++)
		if (bitmap[i / WORD_BITS] >> i % WORD_BITS & 1)
			memcpy((char *)out + i * sizeof(*next), next++, sizeof(*next));
	return next;
}

static bool make_room(struct packing *p)
{
	size_t need = p->n + MOST(struct trace_endpoint) + MOST(struct trace_detail) +
		      MOST(struct trace_samples);
	uint64_t *more;

	if (need <= p->room)
		return true;
	more = array_resize(p->words, need, need / 2, sizeof(*more));
	if (!more)
		return false;
	p->words = more;
	p->room = need + need / 2;
	return true;
}

ORDER_BY(by_serial, struct packed_endpoint, serial)

static bool pack_endpoints(struct trace_packed *out, const struct trace_snapshot *s)
{
	struct packing p = {};
	uint64_t *exact;
	size_t i = 0;

	for (; i < s->n && make_room(&p); i++) {
		struct trace_endpoint ep = s->ep[i];

		out->ep[i] = (struct packed_endpoint){ ep.serial, p.n, ep.detail };
		ep.detail = NULL;
		pack_words(&p, &ep, WORDS_OF(struct trace_endpoint));
		if (s->ep[i].detail) {
			pack_words(&p, s->ep[i].detail, WORDS_OF(struct trace_detail));
			out->has_details = true;
		}
		if (s->samples)
			pack_words(&p, &s->samples[i], WORDS_OF(struct trace_samples));
	}
	exact = array_resize(p.words, p.n, 0, sizeof(*exact));
	out->words = exact ? exact : p.words;
	return i == s->n;
}

int trace_pack(struct trace_packed *out, const struct trace_snapshot *s)
{
	*out = (struct trace_packed){ .head = *s, .has_samples = s->samples };
	out->head.ep = NULL;
	out->head.samples = NULL;
	out->head.details = (struct trace_details){};
	out->head.rest = s->rest ? closed_sums_copy(s->rest) : NULL;
	out->ep = array_new(s->n, 0, sizeof(*out->ep));
	if (!out->ep || (s->rest && !out->head.rest) || !pack_endpoints(out, s)) {
		trace_packed_free(out);
		return -1;
	}
	qsort(out->ep, s->n, sizeof(*out->ep), by_serial);
	return 0;
}

void trace_packed_free(struct trace_packed *p)
{
	free(p->head.rest);
	free(p->ep);
	free(p->words);
	*p = (struct trace_packed){};
}

bool packed_find(const struct trace_packed *p, uint64_t serial, size_t *at)
{
	struct packed_endpoint want = { .serial = serial };

	*at = array_lower_bound(&want, p->ep, p->head.n, sizeof(want), by_serial);
	return *at < p->head.n && p->ep[*at].serial == serial;
}

bool packed_has_detail(const struct trace_packed *p, size_t at)
{
	return p->ep[at].has_detail;
}

void packed_read(const struct trace_packed *p, size_t at, struct unpacked *out)
{
	const uint64_t *next =
		unpack_words(p->words + p->ep[at].at, &out->ep, WORDS_OF(struct trace_endpoint));

	if (p->ep[at].has_detail) {
		next = unpack_words(next, &out->detail, WORDS_OF(struct trace_detail));
		out->ep.detail = &out->detail;
	}
	if (p->has_samples)
		unpack_words(next, &out->samples, WORDS_OF(struct trace_samples));
	else
		out->samples = (struct trace_samples){};
}
