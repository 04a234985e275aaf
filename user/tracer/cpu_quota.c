// SPDX-License-Identifier: GPL-2.0-only
/* How long the CPU quota of a process's cgroup, or of one above it, kept its members off the CPUs
 * (cpu.max, or cpu.cfs_quota_us of v1). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "base/text.h"
#include "tracer/internal.h"

#define PATH_ROOM 1024

/* Is `word` in a comma-separated list? */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, n) && (!at[n] || at[n] == ','))
			return true;
	}
	return false;
}

static bool is_mount(const char *line, bool v2)
{
	const char *after = strstr(line, " - ");
	char type[32], options[512];

	if (!after || sscanf(after + 3, "%31s %*s %511s", type, options) != 2)
		return false;
	return v2 ? !strcmp(type, "cgroup2") : !strcmp(type, "cgroup") && has_word(options, "cpu");
}

/* the mount points of the cpu controller of v1, and of v2; empty: not mounted */
static char mounts[2][PATH_ROOM / 2];

static void find_mounts(void)
{
	for_each_line (l, "/proc/self/mountinfo")
		for (int v2 = 0; v2 < 2; v2++)
			if (!*mounts[v2] && is_mount(l.text, v2) &&
			    sscanf(l.text, "%*s %*s %*s %*s %511s", mounts[v2]) != 1)
				*mounts[v2] = '\0';
}

/* "4:cpu,cpuacct:/its/group" of v1, "0::/its/group" of v2 */
static bool is_group(char *line, bool v2, const char **group)
{
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

	if (!path)
		return false;
	*list++ = *path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	*group = path;
	return v2 ? !strcmp(line, "0") && !*list : has_word(list, "cpu");
}

/* Sets `path` to the process's group. Returns the length of the mount point; 0: no such group. */
static size_t find_group(pid_t pid, bool v2, char path[PATH_ROOM])
{
	const char *group;

	for_each_line (l, proc_path(pid, "cgroup").text)
		if (*mounts[v2] && is_group(l.text, v2, &group)) {
			snprintf(path, PATH_ROOM, "%s%s", mounts[v2], group);
			return strlen(mounts[v2]);
		}
	return 0;
}

static uint64_t throttled_at(const char *group)
{
	char path[PATH_ROOM + 16];
	uint64_t ns = 0, n;

	snprintf(path, sizeof(path), "%s/cpu.stat", group);
	for_each_line (l, path) {
		if (sscanf(l.text, "throttled_usec %" SCNu64, &n) == 1)
			ns = 1000 * n;
		if (sscanf(l.text, "throttled_time %" SCNu64, &n) == 1)
			ns = n;
	}
	return ns;
}

uint64_t cpu_quota_throttled(pid_t pid)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char path[PATH_ROOM], *last;
	uint64_t ns = 0;
	size_t root;

	pthread_once(&once, find_mounts);
	root = find_group(pid, false, path);
	if (!root)
		root = find_group(pid, true, path);
	while (root && strlen(path) > root + 1) {
		ns = MAX(ns, throttled_at(path)); /* no sum: several may throttle at the same
						     time */
		last = strrchr(path, '/');
		*last = '\0';
	}
	return ns;
}
