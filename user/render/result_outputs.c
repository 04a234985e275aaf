// SPDX-License-Identifier: GPL-2.0-only
/* Checks the outputs before anything runs: each can be written, and no two would mix. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/output_path.h"
#include "render/sink.h"

struct place {
	const char *path; /* NULL: no output */
	char real[PATH_MAX];
	struct stat st; /* st_mode 0: unknown */
	bool created;	/* by look() */
};

static int look_by_opening(struct place *p)
{
	int fd = output_open(p->real, O_WRONLY | O_APPEND | O_NOCTTY, 0666);

	if (fd < 0)
		return -1;
	fstat(fd, &p->st);
	close(fd);
	return 0;
}

static int look(struct place *p, struct err *e)
{
	bool there;
	int rc;

	if (sink_is_stdout(p->path)) {
		fstat(STDOUT_FILENO, &p->st);
		return 0;
	}
	if (output_path(p->path, p->real, e))
		return -1;
	there = stat(p->real, &p->st) == 0;
	/* opening a FIFO would wait for its reader, and closing it would end the reader's input */
	rc = there && S_ISFIFO(p->st.st_mode) ? faccessat(AT_FDCWD, p->real, W_OK, AT_EACCESS)
					      : look_by_opening(p);
	p->created = rc == 0 && !there;
	return rc ? err_sys(e, EXIT_IO, "give a writable path", "%s", p->path) : 0;
}

/* Devices such as /dev/null keep nothing that could be mixed. */
static bool same_file(const struct place *a, const struct place *b)
{
	return a->st.st_mode && b->st.st_mode && !S_ISCHR(a->st.st_mode) &&
	       !S_ISBLK(a->st.st_mode) && a->st.st_dev == b->st.st_dev &&
	       a->st.st_ino == b->st.st_ino;
}

static int keep_apart(const struct place *a, const struct place *b, struct err *e)
{
	if (sink_is_stdout(a->path) && sink_is_stdout(b->path))
		return err_usage(
			e,
			"standard output: two outputs would mix there; send one of them to a file");
	if (same_file(a, b))
		return err_usage(e,
				 "%s and %s: two outputs would mix in one file; send one of them "
				 "to another file",
				 sink_name(a->path), sink_name(b->path));
	return 0;
}

/* A run that ends before it has a result must leave no file. */
static void remove_created(const struct place *p)
{
	if (p->created)
		unlink(p->real);
}

static int look_at_all(struct place *p, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i].path && look(&p[i], e))
			return -1;
		for (size_t k = 0; p[i].path && k < i; k++)
			if (p[k].path && keep_apart(&p[k], &p[i], e))
				return -1;
	}
	return 0;
}

int outputs_check(const char *const *paths, size_t n, struct err *e)
{
	struct place *p = array_new(n, 0, sizeof(*p));
	int rc;

	if (!p)
		return err_resource(e, "outputs: out of memory; free some and run again");
	for (size_t i = 0; i < n; i++)
		p[i].path = paths[i];
	rc = look_at_all(p, n, e);
	for (size_t i = 0; i < n; i++)
		remove_created(&p[i]);
	free(p);
	return rc;
}

int outputs_spare(const char *input, const char *const *paths, size_t n, struct err *e)
{
	struct place in = { .path = input };

	if (stat(input, &in.st)) /* the code that reads it reports the error */
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct place out = { .path = paths[i] };

		if (!out.path || sink_is_stdout(out.path) || stat(out.path, &out.st) ||
		    !same_file(&in, &out))
			continue;
		return err_usage(
			e, "%s: this input would be overwritten; send the output to another file",
			out.path);
	}
	return 0;
}
