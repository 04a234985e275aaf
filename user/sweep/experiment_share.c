// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/experiment_share.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK "analysis/__main__.py"
#define INSTALLED IPCSTALL_PREFIX "/share/ipcstall"

static bool holds(const char *dir)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/" MARK, dir);

	return n > 0 && n < (int)sizeof(path) && access(path, R_OK) == 0;
}

/* From TREE/build/FLAVOUR/ipcstall upwards, or from PREFIX/bin to PREFIX/share. */
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
