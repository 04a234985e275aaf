// SPDX-License-Identifier: GPL-2.0-only
/* Finds the path of a cgroup by its id. The id of a v2 directory is its inode number (kernfs), so
 * one walk of the tree finds all paths. */
#include <fts.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "tracer/trace.h"

#define WALK_PAUSE_NS \
	1000000000ull /* an unknown id leads to a new walk of the tree, but not more often */

struct known {
	uint64_t id;
	char *path;
};

static struct {
	pthread_mutex_t lock;
	struct known *v;
	size_t n, room;
	uint64_t walked;
	bool offline;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* where cgroup v2 is mounted: /sys/fs/cgroup, or below it beside v1 */
static bool find_mount(char *buf, size_t size)
{
	char path[512];

	for_each_line (l, "/proc/self/mountinfo")
		if (strstr(l.text, " - cgroup2 ") &&
		    sscanf(l.text, "%*s %*s %*s %*s %511s", path) == 1 &&
		    (size_t)snprintf(buf, size, "%s", path) < size)
			return true;
	return false;
}

ORDER_BY(by_id, struct known, id)

static struct known *look_up(uint64_t id)
{
	struct known want = { .id = id };

	return cache.n ? bsearch(&want, cache.v, cache.n, sizeof(want), by_id) : NULL;
}

static void add(uint64_t id, const char *path)
{
	if (!array_grow(&cache.v, cache.n, &cache.room, sizeof(*cache.v)))
		return;
	cache.v[cache.n].id = id;
	cache.v[cache.n].path = strdup(path);
	cache.n += cache.v[cache.n].path != NULL;
}

/* An id is never used twice (kernfs counts generations), so known paths stay valid. */
static void walk(void)
{
	char root[512], *roots[] = { root, NULL };
	size_t sorted = cache.n;
	FTSENT *d;
	FTS *tree;

	tree = find_mount(root, sizeof(root))
		       ? fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL)
		       : NULL;
	while (tree && (d = fts_read(tree))) {
		struct known want = { .id = d->fts_statp->st_ino };

		if (d->fts_info != FTS_D ||
		    (sorted && bsearch(&want, cache.v, sorted, sizeof(want), by_id)))
			continue;
		add(want.id, d->fts_level ? d->fts_path + strlen(root) : "/");
	}
	if (tree)
		fts_close(tree);
	if (cache.n)
		qsort(cache.v, cache.n, sizeof(*cache.v), by_id);
}

static bool walk_due(void)
{
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	if (cache.offline || (cache.walked && now - cache.walked < WALK_PAUSE_NS))
		return false;
	cache.walked = now;
	return true;
}

bool trace_cgroup_path(uint64_t id, char *buf, size_t size)
{
	struct known *k = NULL;

	if (id) {
		pthread_mutex_lock(&cache.lock);
		k = look_up(id);
		if (!k && walk_due()) {
			walk();
			k = look_up(id);
		}
		if (k) {
			snprintf(buf, size, "%s", k->path);
			text_clean(buf, size); /* any user may have named it, and the cut may be
						  within a character */
		}
		pthread_mutex_unlock(&cache.lock);
	}
	if (!k && size)
		buf[0] = 0;
	return k;
}

/* All entries but the last are sorted; moves the last one to its place. */
static void sort_last(void)
{
	struct known last;
	size_t i;

	if (!cache.n)
		return;
	last = cache.v[cache.n - 1];
	for (i = cache.n - 1; i && cache.v[i - 1].id > last.id; i--)
		cache.v[i] = cache.v[i - 1];
	cache.v[i] = last;
}

void trace_cgroup_remember(uint64_t id, const char *path)
{
	struct known *k;
	char *copy;

	pthread_mutex_lock(&cache.lock);
	k = look_up(id);
	copy = k ? strdup(path) : NULL;
	if (copy) {
		free(k->path);
		k->path = copy;
	} else if (!k) {
		add(id, path);
		sort_last();
	}
	pthread_mutex_unlock(&cache.lock);
}

void trace_cgroup_offline(void)
{
	pthread_mutex_lock(&cache.lock);
	cache.offline = true;
	pthread_mutex_unlock(&cache.lock);
}
