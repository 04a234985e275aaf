/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a recording: a head of 16 bytes, then blocks. The head of a block has a checksum of
 * its own, so that its length can be trusted and a damaged block can be left out without losing the
 * blocks after it. Its content has another checksum. After a damaged head the reader searches for
 * the next good one.
 *
 *	head	"ipcstall", version (32 bits), CRC-32 of those 12 bytes
 *	block	type, length when unpacked, length in the file, CRC-32 of the content, CRC-32 of
 *		those 16 bytes; then the content
 *
 * All numbers have 32 bits, little-endian. The content is deflated (zlib) if that makes it shorter:
 * then the two lengths differ. It has sections with tags (codec.h), so that builds with more or
 * fewer figures read each other's files. Blocks of an unknown type are skipped.
 *
 * A file that breaks off, after a crash or on a full disk, is good up to its last whole block.
 */
#ifndef IPCSTALL_RECORDING_BLOCKS_H
#define IPCSTALL_RECORDING_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_VERSION 16
#define BLOCK_MAX      (64u << 20) /* unpacked; no larger block is written */
#define FILE_HEAD      16
#define BLOCK_HEAD     20

enum block_type {
	BLOCK_HEADER = 1,	/* JSON: tool, machine, trace, what is recorded */
	BLOCK_TEXTS,		/* stacks and cgroups, by number */
	BLOCK_STALLS,
	BLOCK_EVENTS,		/* steps and marks of the timeline */
	BLOCK_SNAPSHOT,		/* the endpoints that live, with all their figures so far */
	BLOCK_CLOSED,		/* endpoints that closed since; each is in one such block only */
	BLOCK_DROPPED,		/* counts of what was dropped to keep the file within its size */
	BLOCK_END,		/* the session ended in good order */
	BLOCK_LISTENERS,	/* listening sockets, of the snapshot that follows */
};

/* Return 0 or an errno value. *written: the bytes added to the file. If not all could be written,
 * the file is cut back to its old length. */
int blocks_write_head(int fd);
int blocks_write(int fd, enum block_type type, const void *content, size_t n, size_t *written);

struct block {
	uint32_t type;
	uint32_t n;
	uint8_t *content;      /* valid until the next block is read */
	size_t offset, stored; /* in the file: where its head is, and its whole length */
};

enum read_result {
	READ_BLOCK,
	/* the block is not what was written; the next one can be read. Type 0: its head is damaged
	 * too, and there may have been several blocks */
	READ_DAMAGED,
	READ_END,	/* the file ends after a whole block */
	READ_CUT,	/* the file ends within a block */
	READ_NO_MEMORY,
};

struct block_reader {
	const uint8_t *v; /* the file, mapped or held by the caller */
	size_t n, at;
	uint8_t *unpacked;
};

enum head_result { HEAD_GOOD, HEAD_FOREIGN, HEAD_OTHER_VERSION };
enum head_result blocks_open(struct block_reader *r, const void *file, size_t n, uint32_t *version);
enum read_result blocks_next(struct block_reader *r, struct block *b);
void blocks_close(struct block_reader *r);

/* Does the file begin like a recording? */
bool recording_is_one(const char *path);

#endif
