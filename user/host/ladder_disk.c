// SPDX-License-Identifier: GPL-2.0-only
/* Reads that must come from the device: O_DIRECT, or if the file system has none, the page cache
 * dropped by POSIX_FADV_DONTNEED before each read. The file is unlinked as soon as it is open, so
 * nothing can be left behind. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/ladder.h"
#include "stats/rng.h"

#define MB	  (1UL << 20)
#define FILE_SIZE (64 * MB)

struct disk {
	int fd;
	bool direct;
	char *buf;
};

/* Random content, against file systems that compress and hosts that skip zeros. */
static int fill(struct disk *d, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	for (size_t at = 0; at < FILE_SIZE; at += MB) {
		for (size_t i = 0; i < MB / 8; i++)
			((uint64_t *)(void *)d->buf)[i] = rng_u64(&r);
		if (pwrite(d->fd, d->buf, MB, (off_t)at) != (ssize_t)MB)
			return -1;
	}
	return fsync(d->fd);
}

static int open_unlinked(struct ladder *l, struct disk *d)
{
	char path[512];
	int flags;

	snprintf(path, sizeof(path), "%s/ipcstall-disk-XXXXXX", l->dir);
	d->fd = mkostemp(path, O_CLOEXEC);
	if (d->fd < 0)
		return ladder_fail(l, "%s: cannot make a file: %s; choose another --dir", l->dir,
				   strerror(errno));
	unlink(path);
	if (fill(d, l->seed))
		return ladder_fail(l, "%s: cannot write 64 MiB: %s; choose another --dir", l->dir,
				   strerror(errno));
	flags = fcntl(d->fd, F_GETFL);
	d->direct = fcntl(d->fd, F_SETFL, flags | O_DIRECT) == 0;
	posix_fadvise(d->fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

static bool has_a_device(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) || (fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC);
}

static double timed_read(const struct disk *d, size_t size, off_t at)
{
	uint64_t t0;

	if (!d->direct)
		posix_fadvise(d->fd, at, (off_t)size, POSIX_FADV_DONTNEED);
	t0 = now_ns();
	if (pread(d->fd, d->buf, size, at) != (ssize_t)size)
		return -1;
	return (double)(now_ns() - t0);
}

static int read_all(struct ladder *l, const struct disk *d, size_t size, bool random)
{
	size_t places = FILE_SIZE / size, n = places < LADDER_SAMPLES ? places : LADDER_SAMPLES;
	struct rng r;

	rng_seed(&r, l->seed + 1);
	posix_fadvise(d->fd, 0, 0, random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
	for (size_t i = 0; i < n; i++) {
		size_t place = random ? rng_below(&r, places) : i;

		l->ns[i] = timed_read(d, size, (off_t)(place * size));
		if (l->ns[i] < 0)
			return ladder_fail(l, "%s: cannot read back: %s", l->dir, strerror(errno));
	}
	ladder_note(l, "%s, %s; a host's or drive's own cache may answer", l->dir,
		    d->direct ? "O_DIRECT" : "page cache dropped by posix_fadvise");
	return (int)n;
}

static int disk(struct ladder *l, size_t size, bool random)
{
	struct disk d = { .fd = -1 };
	int n = -1;

	if (!has_a_device(l->dir))
		return ladder_fail(l, "%s is in memory, with no disk beneath; choose another --dir",
				   l->dir);
	d.buf = aligned_alloc(4096, MB);
	if (!d.buf)
		return ladder_fail(l, "no memory for 1 MiB");
	if (open_unlinked(l, &d) == 0)
		n = read_all(l, &d, size, random);
	if (d.fd >= 0)
		close(d.fd);
	free(d.buf);
	return n;
}

int rung_disk_4k(struct ladder *l)
{
	return disk(l, 4096, true);
}

int rung_disk_1m(struct ladder *l)
{
	return disk(l, MB, false);
}
