// SPDX-License-Identifier: GPL-2.0-only
#include "host/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

bool proc_numbers(const char *path, void (*fn)(void *ctx, int dir, long n), void *ctx)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			fn(ctx, dirfd(d), atol(e->d_name));
	if (d)
		closedir(d);
	return d;
}

bool process_lives(pid_t pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

void process_comm(pid_t pid, char comm[16])
{
	char path[40], line[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	text_first_line(path, line, sizeof(line));
	text_comm(comm, line);
}

static pid_t related(pid_t pid, const char *how)
{
	char path[40], other[16];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return text_field(path, how, other, sizeof(other)) ? (pid_t)strtol(other, NULL, 10) : 0;
}

pid_t process_parent(pid_t pid)
{
	return related(pid, "PPid");
}

pid_t process_tracer(pid_t pid)
{
	return related(pid, "TracerPid");
}
