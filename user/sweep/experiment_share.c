// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/experiment_share.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/trusted.h"

#define MARK	  "analysis/__main__.py"
#define INSTALLED IPCSTALL_PREFIX "/share/ipcstall"

/* Whether `dir` holds the analysis, and can be trusted: a directory above the program may be one
 * in which everybody can create files, as /tmp is. */
static bool holds(const char *dir)
{
	static const char *const parts[] = { "", "/analysis", ("/" MARK) };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int n = snprintf(path, sizeof(path), "%s%s", dir, parts[i]);

		if (n <= 0 || n >= (int)sizeof(path) || !trusted_file(path))
			return false;
	}
	return access(path, R_OK) == 0;
}

/* Searches upwards from TREE/build/FLAVOUR/ipcstall, or from PREFIX/bin in PREFIX/share. */
static bool beside_program(char dir[PATH_MAX])
{
	char shared[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);

	if (n <= 0)
		return false;
	dir[n] = 0;
	for (int up = 0; up < 3; up++) {
		memmove(dir, dirname(dir), strlen(dir) + 1);
		if (holds(dir))
			return true;
		snprintf(shared, sizeof(shared), "%s/share/ipcstall", dir);
		if (strlen(shared) < PATH_MAX && holds(shared)) {
			strcpy(dir, shared);
			return true;
		}
	}
	return false;
}

bool share_dir(char dir[PATH_MAX])
{
	if (beside_program(dir))
		return true;
	strcpy(dir, INSTALLED);
	return holds(dir);
}
