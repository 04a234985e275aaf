// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/output_path.h"
#include "render/sink.h"

bool sink_is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

const char *sink_name(const char *path)
{
	return sink_is_stdout(path) ? "standard output" : path;
}

/* Open outputs that will replace a file when they are closed. */
static struct pending {
	FILE *f;
	struct atomic_file r;
	struct pending *next;
} * pending;

static struct atomic_file take_pending(FILE *f)
{
	struct atomic_file r = { .fd = -1 };

	for (struct pending **at = &pending; *at; at = &(*at)->next) {
		struct pending *p = *at;

		if (p->f != f)
			continue;
		r = p->r;
		*at = p->next;
		free(p);
		break;
	}
	return r;
}

/* Whether the output is written beside its target; false: in place. */
static bool is_beside(const FILE *f)
{
	for (const struct pending *p = pending; p; p = p->next)
		if (p->f == f)
			return p->r.part;
	return false;
}

static FILE *open_atomic_file(const char *path)
{
	struct pending *p = calloc(1, sizeof(*p));
	int fd = p ? atomic_file_open(&p->r, path, O_WRONLY, 0666, false) : -1;

	if (fd >= 0 && (p->f = fdopen(fd, "we"))) {
		p->next = pending;
		pending = p;
		return p->f;
	}
	if (fd >= 0) {
		close(fd);
		atomic_file_drop(&p->r);
	}
	free(p);
	return NULL;
}

static FILE *opened(FILE *f, const char *path, struct err *e)
{
	if (!f)
		err_sys(e, EXIT_IO, "give a writable path", "%s", path);
	return f;
}

FILE *sink_open(const char *path, struct err *e)
{
	char real[PATH_MAX];

	if (sink_is_stdout(path))
		return stdout;
	return output_path(path, real, e) ? NULL : opened(open_atomic_file(real), path, e);
}

/* flag: O_TRUNC or O_APPEND */
static FILE *open_in_place(const char *path, int flag, struct err *e)
{
	char real[PATH_MAX];
	int fd;

	if (output_path(path, real, e))
		return NULL;
	fd = output_open(real, O_WRONLY | flag, 0666);
	return opened(fd < 0 ? NULL : fdopen(fd, flag == O_APPEND ? "ae" : "we"), path, e);
}

FILE *sink_open_stream(const char *path, struct err *e)
{
	return sink_is_stdout(path) ? stdout : open_in_place(path, O_TRUNC, e);
}

void sink_drop(FILE *f)
{
	struct atomic_file r = take_pending(f);

	if (f != stdout)
		fclose(f);
	atomic_file_drop(&r);
}

int sink_close(FILE *f, const char *path, struct err *e)
{
	struct atomic_file r = take_pending(f);
	int err = fflush(f) ? errno : ferror(f) ? (errno ? errno : EIO) : 0;

	if (f != stdout && fclose(f) && !err)
		err = errno;
	if (err)
		atomic_file_drop(&r);
	else
		err = atomic_file_commit(&r);
	if (!err)
		return 0;
	errno = err;
	return err_sys(e, EXIT_IO,
		       f == stdout ? "free some space or start its reader, and run again"
				   : "free some space and run again",
		       "%s", sink_name(path));
}

FILE *sink_settle(FILE *f, const char *path, struct err *e)
{
	if (!is_beside(f)) {
		take_pending(f);
		return f;
	}
	if (sink_close(f, path, e))
		return NULL;
	return open_in_place(path, O_APPEND, e);
}

const char *size_text(int64_t size, char buf[24])
{
	if (size >= 1 << 20 && size % (1 << 20) == 0)
		snprintf(buf, 24, "%" PRId64 "M", size >> 20);
	else if (size >= 1024 && size % 1024 == 0)
		snprintf(buf, 24, "%" PRId64 "K", size >> 10);
	else
		snprintf(buf, 24, "%" PRId64, size);
	return buf;
}
