// SPDX-License-Identifier: GPL-2.0-only
#include "recording/codec.h"

#include <stdlib.h>
#include <string.h>

void codec_writer(struct codec *c)
{
	*c = (struct codec){};
}

void codec_reader(struct codec *c, const void *bytes, size_t n)
{
	*c = (struct codec){ .v = (uint8_t *)bytes, .n = n, .reads = true };
}

void codec_free(struct codec *c)
{
	if (!c->reads)
		free(c->v);
	*c = (struct codec){};
}

bool codec_done(const struct codec *c)
{
	return !c->bad && c->at == c->n;
}

static bool grow(struct codec *c, size_t n)
{
	size_t room = c->room ? c->room : 4096;
	uint8_t *p;

	while (room - c->n < n)
		room *= 2;
	p = c->bad ? NULL : realloc(c->v, room);
	if (!p) {
		c->bad = true;
		return false;
	}
	c->v = p;
	c->room = room;
	return true;
}

static inline bool has_room(struct codec *c, size_t n)
{
	return c->room - c->n >= n || grow(c, n);
}

static inline void put(struct codec *c, uint8_t byte)
{
	if (has_room(c, 1))
		c->v[c->n++] = byte;
}

static void nothing_left(struct codec *c)
{
	if (c->section)
		c->short_of = true;
	else
		c->bad = true;
}

static inline uint8_t get(struct codec *c)
{
	if (c->at < c->n && !c->bad)
		return c->v[c->at++];
	nothing_left(c);
	return 0;
}

static void write_u64(struct codec *c, uint64_t v)
{
	while (v >= 0x80) {
		put(c, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	put(c, (uint8_t)v);
}

static uint64_t read_long_u64(struct codec *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t b = get(c);

		if (shift == 63 && b > 1) /* does not fit 64 bits */
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static inline uint64_t read_u64(struct codec *c)
{
	if (c->at < c->n && c->v[c->at] < 0x80 && !c->bad) /* most numbers are so small */
		return c->v[c->at++];
	return read_long_u64(c);
}

void codec_u64(struct codec *c, uint64_t *v)
{
	if (c->reads)
		*v = read_u64(c);
	else
		write_u64(c, *v);
}

void codec_below(struct codec *c, uint64_t *v, uint64_t limit)
{
	codec_u64(c, v);
	if (*v < limit)
		return;
	c->bad = true;
	*v = 0;
}

/* small negative numbers stay small: 0, -1, 1, -2, ... */
void codec_i64(struct codec *c, int64_t *v)
{
	uint64_t u = ((uint64_t)*v << 1) ^ (uint64_t)(*v >> 63);

	codec_u64(c, &u);
	*v = (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
}

void codec_u32(struct codec *c, uint32_t *v)
{
	uint64_t u = *v;

	codec_below(c, &u, 1ull << 32);
	*v = (uint32_t)u;
}

/* zeros that are coded at once: most of a histogram is empty */
enum { RUN = 8 };

static bool run_of_zeros(struct codec *c, uint32_t v[RUN])
{
	static const uint32_t none[RUN];

	if (c->reads) {
		if (c->bad || c->n - c->at < RUN || memcmp(c->v + c->at, none, RUN))
			return false;
		memset(v, 0, sizeof(none));
		c->at += RUN;
		return true;
	}
	if (memcmp(v, none, sizeof(none)) || !has_room(c, RUN))
		return false;
	memset(c->v + c->n, 0, RUN);
	c->n += RUN;
	return true;
}

void codec_u32s(struct codec *c, uint32_t *v, size_t n)
{
	size_t i = 0;

	while (i < n)
		if (n - i >= RUN && run_of_zeros(c, v + i))
			i += RUN;
		else
			codec_u32(c, &v[i++]);
}

static void codec_u8(struct codec *c, uint8_t *v)
{
	if (c->reads)
		*v = get(c);
	else
		put(c, *v);
}

void codec_bool(struct codec *c, bool *v)
{
	uint8_t b = *v;

	codec_u8(c, &b);
	if (b > 1)
		c->bad = true;
	*v = b == 1;
}

static void read_bytes(struct codec *c, uint8_t *v, size_t n)
{
	size_t left = c->bad ? 0 : c->n - c->at, there = n < left ? n : left;

	if (there)
		memcpy(v, c->v + c->at, there);
	memset(v + there, 0, n - there);
	c->at += there;
	if (there < n)
		nothing_left(c);
}

void codec_bytes(struct codec *c, void *v, size_t n)
{
	if (c->reads) {
		read_bytes(c, v, n);
	} else if (n && has_room(c, n)) {
		memcpy(c->v + c->n, v, n);
		c->n += n;
	}
}

/* --- sections --------------------------------------------------------------------------------- */

enum { LENGTH_BYTES = 4, SECTIONS_MAX = 256 };

static void patch_length(struct codec *c, size_t at)
{
	size_t n = c->n - at - LENGTH_BYTES;

	for (int i = 0; !c->bad && i < LENGTH_BYTES; i++)
		c->v[at + (size_t)i] = (uint8_t)(n >> 8 * i);
}

static void write_section(struct codec *c, const struct codec_section *row, void *what)
{
	size_t at;

	write_u64(c, row->tag);
	at = c->n;
	for (int i = 0; i < LENGTH_BYTES; i++)
		put(c, 0);
	row->walk(c, what);
	patch_length(c, at);
}

static size_t read_length(struct codec *c)
{
	size_t n = 0;

	for (int i = 0; i < LENGTH_BYTES; i++)
		n |= (size_t)get(c) << 8 * i;
	if (n > c->n - c->at)
		c->bad = true;
	return c->bad ? 0 : n;
}

static void read_section(struct codec *c, const struct codec_section *rows, size_t n_rows,
			 void *what, uint32_t *seen)
{
	uint64_t tag = read_u64(c);
	size_t n = read_length(c);
	struct codec in = { .v = c->v + c->at, .n = n, .reads = true, .section = true };

	c->at += n;
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].tag != tag)
			continue;
		rows[i].walk(&in, what);
		c->bad |= in.bad;
		*seen |= in.short_of ? 0 : 1u << i;
		return;
	}
	c->unknown++;
}

static void read_sections(struct codec *c, const struct codec_section *rows, size_t n, void *what)
{
	uint64_t there;
	uint32_t seen = 0;

	codec_u64(c, &there);
	if (there > SECTIONS_MAX)
		c->bad = true;
	for (uint64_t i = 0; i < there && !c->bad; i++)
		read_section(c, rows, n, what, &seen);
	c->lacks |= ~seen & ((1u << n) - 1);
}

void codec_sections(struct codec *c, const struct codec_section *rows, size_t n, void *what)
{
	if (c->reads) {
		read_sections(c, rows, n, what);
		return;
	}
	write_u64(c, n);
	for (size_t i = 0; i < n; i++)
		write_section(c, &rows[i], what);
}

void codec_list(struct codec *c, uint64_t *v, size_t n)
{
	uint64_t there = n, passed;

	codec_u64(c, &there);
	for (uint64_t i = 0; i < there && !c->bad && !c->short_of; i++)
		codec_u64(c, i < n ? &v[i] : &passed);
	if (there < n)
		c->short_of = true;
}
