// SPDX-License-Identifier: GPL-2.0-only
#include "recording/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = "ipcstall";

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t checksum(const void *v, size_t n)
{
	return (uint32_t)crc32(0, v, (uInt)n);
}

static int write_all(int fd, const uint8_t *v, size_t n)
{
	while (n) {
		ssize_t done = write(fd, v, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? errno : EIO;
		v += done;
		n -= (size_t)done;
	}
	return 0;
}

int blocks_write_head(int fd)
{
	uint8_t head[FILE_HEAD];

	memcpy(head, magic, sizeof(magic));
	put32(head + 8, BLOCKS_VERSION);
	put32(head + 12, checksum(head, 12));
	return write_all(fd, head, sizeof(head));
}

/* Room for the head, then the content: deflated, or as it is if deflating does not make it
 * shorter. */
static uint8_t *pack(const void *content, size_t n, size_t *stored)
{
	uLongf room = compressBound((uLong)n);
	uint8_t *v = malloc(BLOCK_HEAD + (room > n ? room : n));

	if (!v)
		return NULL;
	if (compress2(v + BLOCK_HEAD, &room, content, (uLong)n, Z_BEST_SPEED) == Z_OK && room < n) {
		*stored = room;
		return v;
	}
	memcpy(v + BLOCK_HEAD, content, n);
	*stored = n;
	return v;
}

int blocks_write(int fd, enum block_type type, const void *content, size_t n, size_t *written)
{
	off_t before = lseek(fd, 0, SEEK_END);
	size_t stored = 0;
	uint8_t *v = n <= BLOCK_MAX ? pack(content, n, &stored) : NULL;
	int err;

	*written = 0;
	if (!v)
		return n > BLOCK_MAX ? EFBIG : ENOMEM;
	put32(v, type);
	put32(v + 4, (uint32_t)n);
	put32(v + 8, (uint32_t)stored);
	put32(v + 12, checksum(v + BLOCK_HEAD, stored));
	put32(v + 16, checksum(v, 16));
	err = write_all(fd, v, BLOCK_HEAD + stored);
	free(v);
	if (!err)
		*written = BLOCK_HEAD + stored;
	else if (before >= 0 && ftruncate(fd, before))
		return err; /* a pipe or device: its reader finds an incomplete block */
	return err;
}

enum head_result blocks_open(struct block_reader *r, const void *file, size_t n, uint32_t *version)
{
	*r = (struct block_reader){ .v = file, .n = n, .at = FILE_HEAD };
	*version = 0;
	if (n < FILE_HEAD || memcmp(file, magic, sizeof(magic)) ||
	    checksum(r->v, 12) != get32(r->v + 12))
		return HEAD_FOREIGN;
	*version = get32(r->v + 8);
	return *version == BLOCKS_VERSION ? HEAD_GOOD : HEAD_OTHER_VERSION;
}

static enum read_result unpack(struct block_reader *r, struct block *b, const uint8_t *v,
			       uint32_t stored)
{
	uLongf n = b->n;

	free(r->unpacked);
	r->unpacked = malloc(b->n + 1u);
	if (!r->unpacked)
		return READ_NO_MEMORY;
	if (stored == b->n)
		memcpy(r->unpacked, v, b->n);
	else if (uncompress(r->unpacked, &n, v, stored) != Z_OK || n != b->n)
		return READ_DAMAGED;
	r->unpacked[b->n] = 0; /* text may be read as a string */
	b->content = r->unpacked;
	return READ_BLOCK;
}

static bool good_head(const uint8_t *head)
{
	return get32(head + 4) <= BLOCK_MAX && get32(head + 8) <= get32(head + 4) &&
	       checksum(head, 16) == get32(head + 16);
}

/* After a crash of the machine a file may have its full length, but zeros for an unwritten end. */
static bool only_zeros(const uint8_t *v, size_t n)
{
	return !v[0] && !memcmp(v, v + 1, n - 1);
}

enum {
	TYPES = 256
}; /* far more types than there are: a search at every byte must not take a new type for chance */

static bool begins_block(const uint8_t *head, size_t left)
{
	return get32(head) && get32(head) < TYPES && good_head(head) &&
	       get32(head + 8) <= left - BLOCK_HEAD;
}

/* A damaged head does not tell where the next block begins, so the next good head is searched
 * for. */
static void skip_damaged(struct block_reader *r, struct block *b)
{
	*b = (struct block){ .offset = r->at };
	do
		r->at++;
	while (r->n - r->at >= BLOCK_HEAD && !begins_block(r->v + r->at, r->n - r->at));
	if (r->n - r->at < BLOCK_HEAD)
		r->at = r->n;
	b->stored = r->at - b->offset;
}

enum read_result blocks_next(struct block_reader *r, struct block *b)
{
	const uint8_t *head = r->v + r->at;
	size_t left = r->n - r->at;
	uint32_t stored;

	if (!left)
		return READ_END;
	if (left < BLOCK_HEAD)
		return READ_CUT;
	if (!good_head(head)) {
		if (only_zeros(head, left))
			return READ_CUT;
		skip_damaged(r, b);
		return READ_DAMAGED;
	}
	*b = (struct block){ .type = get32(head), .n = get32(head + 4), .offset = r->at };
	stored = get32(head + 8);
	if (stored > left - BLOCK_HEAD)
		return READ_CUT;
	b->stored = BLOCK_HEAD + (size_t)stored;
	r->at += b->stored;
	if (checksum(head + BLOCK_HEAD, stored) != get32(head + 12))
		return READ_DAMAGED;
	return unpack(r, b, head + BLOCK_HEAD, stored);
}

void blocks_close(struct block_reader *r)
{
	free(r->unpacked);
	*r = (struct block_reader){};
}

bool recording_is_one(const char *path)
{
	char head[sizeof(magic)] = "";
	FILE *f = fopen(path, "re");
	bool is = f && fread(head, 1, sizeof(head), f) == sizeof(head) &&
		  !memcmp(head, magic, sizeof(magic));

	if (f)
		fclose(f);
	return is;
}
