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

bool process_is_in(pid_t pid, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

bool process_lives(pid_t pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

void process_comm(pid_t pid, char comm[16])
{
	char line[32] = "";

	text_first_line(proc_path(pid, "comm").text, line, sizeof(line));
	text_comm(comm, line);
}

static pid_t related(pid_t pid, const char *how)
{
	char other[16] = "";

	text_field(proc_path(pid, "status").text, how, other, sizeof(other));
	return (pid_t)strtol(other, NULL, 10);
}

pid_t process_parent(pid_t pid)
{
	return related(pid, "PPid");
}

pid_t process_tracer(pid_t pid)
{
	return related(pid, "TracerPid");
}

struct children {
	pid_t pid, one;
	bool several;
};

static void add_children(void *ctx, int dir, long tid)
{
	struct children *c = ctx;
	char line[256], *end;
	long pid;

	(void)dir;
	if (!text_first_line(proc_path(c->pid, "task/%ld/children", tid).text, line, sizeof(line)))
		return;
	for (char *at = line; (pid = strtol(at, &end, 10)) > 0; at = end) {
		c->several |= c->one != 0;
		c->one = (pid_t)pid;
	}
}

pid_t process_only_child(pid_t pid)
{
	struct children c = { .pid = pid };

	proc_numbers(proc_path(pid, "task").text, add_children, &c);
	return c.several ? 0 : c.one;
}
