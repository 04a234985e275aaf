/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a recording: a head of 16 bytes, then blocks. A block's own head has a checksum, so
 *that its length can be trusted and a damaged block be left out without losing what follows; its
 *content has another. After a damaged head the next good one is looked for.
 *
 *	head	"ipcstall", version (32 bits), CRC-32 of those 12 bytes
 *	block	type, length when unpacked, length in the file, CRC-32 of the content, CRC-32 of
 *those 16 bytes; then the content
 *
 * All numbers of 32 bits, little-endian. The content is deflated (zlib) where that makes it
 *shorter: the two lengths differ then. What stands in a block has sections with tags (codec.h):
 *builds with more or fewer figures read each other's files. Blocks of a type that is not known are
 *passed over.
 *
 * A file that breaks off, after a crash or on a full disk, is good up to its last whole block.
 */
#ifndef IPCSTALL_RECORDING_BLOCKS_H
#define IPCSTALL_RECORDING_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_VERSION 16
#define BLOCK_MAX      (64u << 20) /* unpacked; more is no block of ours */
#define FILE_HEAD      16
#define BLOCK_HEAD     20

enum block_type {
	BLOCK_HEADER = 1,	/* JSON: tool, machine, trace, what is recorded */
	BLOCK_TEXTS,		/* stacks and cgroups, by number */
	BLOCK_STALLS,
	BLOCK_EVENTS,		/* steps and marks of the timeline */
	BLOCK_SNAPSHOT,		/* the endpoints that live, with all their figures so far */
	BLOCK_CLOSED,		/* those that closed since: each stands in one such block only */
	BLOCK_DROPPED,		/* what went to keep the file within its size */
	BLOCK_END,		/* the session ended in good order */
	BLOCK_LISTENERS,	/* listening sockets, of the snapshot that follows */
};

/* 0, or an errno. *written: how many bytes went to the file, which is cut back to where it was when
 * not all did. */
int blocks_write_head(int fd);
int blocks_write(int fd, enum block_type type, const void *content, size_t n, size_t *written);

struct block {
	uint32_t type;
	uint32_t n;
	uint8_t *content;      /* until the next one is read */
	size_t offset, stored; /* in the file: where its head is, and its whole length */
};

enum read_result {
	READ_BLOCK,
	/* this one is not what was written; the next may be read. Type 0: its head neither, and it
	 * may have been several */
	READ_DAMAGED,
	READ_END,	/* the file ends after a whole block */
	READ_CUT,	/* it ends within one */
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

/* Does it begin as a recording does? */
bool recording_is_one(const char *path);

#endif
