// SPDX-License-Identifier: GPL-2.0-only
/* Rewrites a recording without what may be dropped. The new file replaces the old one in one step,
 * so a crash leaves one of the two. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/smaller_half.h"
#include "tracer/endpoint_detail.h"
#include "verdict/verdict.h"
#include "recording/blocks.h"
#include "recording/codec.h"
#include "recording/recorder.h"

void codec_dropped(struct codec *c, struct dropped *d)
{
	codec_u64(c, &d->events);
	codec_u64(c, &d->stalls);
	codec_u64(c, &d->closed);
	codec_u64(c, &d->snapshots);
}

/* how much of each block type the file has, and how much was met so far; the stall time of all
 * closed endpoints in the file, and which half stalled less */
struct tally {
	uint64_t bytes[BLOCK_END + 1], met[BLOCK_END + 1];
	uint64_t snapshots, snapshot;
	uint64_t *stall;
	size_t closed;
	struct smaller_half less;
};

static struct part part_of(const struct block *b, struct codec *c)
{
	struct part p = {};

	codec_reader(c, b->content, b->n);
	codec_part(c, &p);
	return p;
}

static uint64_t count_of(const struct block *b)
{
	uint64_t n = 0;
	struct codec c;

	codec_reader(&c, b->content, b->n);
	codec_u64(&c, &n);
	return n;
}

/* Is the block in the older half, by bytes? */
static bool is_old(struct tally *t, const struct block *b)
{
	t->met[b->type] += b->stored;
	return 2 * t->met[b->type] <= t->bytes[b->type] + b->stored;
}

/* every second one, but never the last */
static bool is_odd_snapshot(struct tally *t, const struct block *b, struct dropped *d)
{
	bool goes = t->snapshot % 2 && t->snapshot + 1 < t->snapshots;
	struct codec c;

	if (part_of(b, &c).last) {
		t->snapshot++;
		d->snapshots += goes;
	}
	return goes;
}

struct closed {
	struct part part;
	struct trace_endpoint *ep;
	struct trace_details details;
	uint64_t *peer, *stall;
};

/* an errno value */
static int read_closed(const struct block *b, struct closed *v)
{
	struct codec c;
	size_t n;

	*v = (struct closed){ .part = part_of(b, &c) };
	if (c.bad || v->part.n > b->n)
		return EBADMSG;
	n = v->part.n;
	v->ep = array_new(n, 1, sizeof(*v->ep));
	v->peer = array_new(n, 1, sizeof(*v->peer));
	v->stall = array_new(n, 1, sizeof(*v->stall));
	if (!v->ep || !v->peer || !v->stall)
		return ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!detail_of(&v->details, &v->ep[i]))
			return ENOMEM;
		codec_endpoint(&c, &v->ep[i], &v->peer[i]);
		v->stall[i] = ledger_stall_ns(&v->ep[i].tx);
	}
	return codec_done(&c) ? 0 : EBADMSG;
}

static void free_closed(struct closed *v)
{
	free(v->ep);
	details_free(&v->details);
	free(v->peer);
	free(v->stall);
}

static int count_closed(const struct block *b, struct tally *t)
{
	struct closed v;
	int err = read_closed(b, &v);
	uint64_t *more =
		err ? NULL : array_resize(t->stall, t->closed + v.part.n, 1, sizeof(*more));

	if (more) {
		t->stall = more;
		memcpy(more + t->closed, v.stall, v.part.n * sizeof(*more));
		t->closed += v.part.n;
	} else if (!err) {
		err = ENOMEM;
	}
	free_closed(&v);
	return err;
}

/* Returns an errno value. Endpoints that stalled much may be alone in a block, so each endpoint is
 * compared with those of all blocks. */
static int count_blocks(const uint8_t *file, size_t size, struct tally *t)
{
	struct block_reader r;
	struct codec c;
	struct block b;
	uint32_t version;
	int err = 0;

	blocks_open(&r, file, size, &version);
	while (!err && blocks_next(&r, &b) == READ_BLOCK) {
		if (b.type <= BLOCK_END)
			t->bytes[b.type] += b.stored;
		t->snapshots += b.type == BLOCK_SNAPSHOT && part_of(&b, &c).last;
		if (b.type == BLOCK_CLOSED)
			err = count_closed(&b, t);
	}
	blocks_close(&r);
	if (!err && t->closed)
		smaller_half_begin(&t->less, t->stall, t->closed);
	return err;
}

/* Writes the endpoints of the half that stalled more. Returns their number. */
static uint64_t keep_stalled(struct closed *v, struct smaller_half *less, struct codec *eps)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < v->part.n; i++) {
		if (smaller_half_goes(less, v->stall[i]))
			continue;
		codec_endpoint(eps, &v->ep[i], &v->peer[i]);
		kept++;
	}
	return kept;
}

/* writes nothing if none is left */
static void write_closed(struct closed *v, struct smaller_half *less, struct codec *out,
			 struct dropped *d)
{
	uint64_t before = v->part.n;
	struct codec eps;

	codec_writer(&eps);
	v->part.n = keep_stalled(v, less, &eps);
	if (v->part.n) {
		codec_part(out, &v->part);
		codec_bytes(out, eps.v, eps.n);
	}
	out->bad |= eps.bad;
	d->closed += before - v->part.n;
	codec_free(&eps);
}

static int thin_closed(const struct block *b, struct smaller_half *less, int fd, uint64_t *size,
		       struct dropped *d)
{
	struct closed v;
	struct codec out;
	size_t n = 0;
	int err = read_closed(b, &v);

	codec_writer(&out);
	if (!err)
		write_closed(&v, less, &out, d);
	if (out.bad)
		err = ENOMEM;
	else if (out.n)
		err = blocks_write(fd, BLOCK_CLOSED, out.v, out.n, &n);
	*size += n;
	codec_free(&out);
	free_closed(&v);
	return err;
}

static int copy(const uint8_t *file, const struct block *b, int fd, uint64_t *size)
{
	ssize_t n = write(fd, file + b->offset, b->stored);

	if (n != (ssize_t)b->stored)
		return n < 0 ? errno : ENOSPC;
	*size += b->stored;
	return 0;
}

static int keep_or_drop(const uint8_t *file, const struct block *b, struct tally *t, int fd,
			uint64_t *size, struct dropped *d)
{
	switch (b->type) {
	case BLOCK_EVENTS:
		if (!is_old(t, b))
			break;
		d->events += count_of(b);
		return 0;
	case BLOCK_STALLS:
		if (!is_old(t, b))
			break;
		d->stalls += count_of(b);
		return 0;
	case BLOCK_SNAPSHOT:
		if (!is_odd_snapshot(t, b, d))
			break;
		return 0;
	case BLOCK_CLOSED:
		return thin_closed(b, &t->less, fd, size, d);
	case BLOCK_DROPPED:
		return 0; /* the caller writes the sum */
	default:
		break;
	}
	return copy(file, b, fd, size);
}

static int write_anew(const uint8_t *file, size_t n, int fd, uint64_t *size, struct dropped *d)
{
	struct tally t = {};
	struct block_reader r;
	struct block b;
	uint32_t version;
	int err = blocks_write_head(fd);

	*size = FILE_HEAD;
	if (!err)
		err = count_blocks(file, n, &t);
	blocks_open(&r, file, n, &version);
	while (!err && blocks_next(&r, &b) == READ_BLOCK)
		err = keep_or_drop(file, &b, &t, fd, size, d);
	blocks_close(&r);
	free(t.stall);
	return err;
}

/* Gives the new file the owner, group and mode of the old one. If the owner or group cannot be set,
 * the group gets no rights. */
static int like_old(int old, int new)
{
	struct stat st;
	mode_t mode;

	if (fstat(old, &st))
		return errno;
	mode = st.st_mode & 0777;
	if (fchown(new, st.st_uid, st.st_gid))
		mode &= ~(mode_t)S_IRWXG;
	return fchmod(new, mode) ? errno : 0;
}

/* `tmp`: a new file that nobody else uses; the caller removes it if it does not replace the old one
 */
static int replace(const char *path, const char *tmp, int old, int new, uint64_t *size,
		   struct dropped *d)
{
	size_t n = *size;
	void *file = mmap(NULL, n, PROT_READ, MAP_SHARED, old, 0);
	int err;

	if (file == MAP_FAILED)
		return errno;
	err = write_anew(file, n, new, size, d);
	munmap(file, n);
	if (!err)
		err = like_old(old, new);
	return !err && rename(tmp, path) ? errno : err;
}

int recording_compact(const char *path, int *fd, uint64_t *size, struct dropped *d)
{
	struct dropped now = *d;
	uint64_t new_size = *size;
	char tmp[4096];
	int out, err;

	if ((size_t)snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= sizeof(tmp))
		return ENAMETOOLONG;
	out = mkostemp(tmp, O_CLOEXEC);
	if (out < 0)
		return errno;
	err = replace(path, tmp, *fd, out, &new_size, &now);
	if (err) {
		close(out);
		unlink(tmp);
		return err;
	}
	close(*fd);
	*fd = out;
	*size = new_size;
	*d = now;
	return 0;
}
