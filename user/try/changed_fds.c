// SPDX-License-Identifier: GPL-2.0-only
#include "try/changed_fds.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { UNDO_TRIES = 1000 }; /* a millisecond apart */

static void pause_ms(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

int changed_fds_add(struct changed_fds *w, struct fd_ref ref)
{
	struct changed_fd *p = &w->v[w->n];
	int fd, err;

	if (w->n == CHANGED_FDS_MAX)
		return -ENOSPC;
	*p = (struct changed_fd){ .ref = ref };
	fd = fd_ref_open(&p->ref);
	if (fd < 0)
		return fd;
	err = w->setting->read(fd, &p->was);
	close(fd);
	if (err)
		return err;
	if (!w->setting->changes(&p->was))
		return 1;
	w->n++;
	return 0;
}

static int apply(const struct setting *s, struct changed_fd *p, bool undo)
{
	int fd = fd_ref_open(&p->ref), err;

	if (fd < 0)
		return fd;
	/* noted before the option is set, so that an interrupted change is put back too */
	p->set = true;
	err = undo ? s->undo(fd, &p->was) : s->set(fd, &p->was);
	close(fd);
	if (undo && !err)
		p->set = false;
	return err;
}

static void count(struct changed_result *r, int err)
{
	r->done += !err;
	r->gone += err == -ENOENT;
	if (err && err != -ENOENT)
		r->err = err;
}

struct changed_result changed_fds_set(struct changed_fds *w)
{
	struct changed_result r = {};

	for (size_t i = 0; i < w->n; i++)
		count(&r, apply(w->setting, &w->v[i], false));
	return r;
}

void changed_fds_keep_up(struct changed_fds *w)
{
	for (size_t i = 0; w->setting->kept_up && i < w->n; i++)
		if (w->v[i].set)
			apply(w->setting, &w->v[i], false);
}

static struct changed_result undo_once(struct changed_fds *w)
{
	struct changed_result r = {};

	for (size_t i = 0; i < w->n; i++) {
		int err = w->v[i].set ? apply(w->setting, &w->v[i], true) : 0;

		count(&r, err);
		if (err == -ENOENT)
			w->v[i].set = false;
	}
	return r;
}

struct changed_result changed_fds_undo(struct changed_fds *w)
{
	struct changed_result first = undo_once(w), again = first;

	for (int i = 0; again.err && i < UNDO_TRIES; i++) {
		pause_ms();
		again = undo_once(w);
	}
	again.gone = first.gone;
	return again;
}
