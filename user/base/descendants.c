// SPDX-License-Identifier: GPL-2.0-only
#include "base/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct process {
	pid_t pid, parent;
	bool ended, found;
};

/* "pid (name) state parent": the name may hold anything */
static bool read_process(const char *pid, struct process *p)
{
	char line[512], state;
	const char *behind;

	p->pid = (pid_t)atol(pid);
	if (!text_first_line(proc_path(p->pid, "stat").text, line, sizeof(line)))
		return false;
	behind = strrchr(line, ')');
	p->found = false;
	if (!behind || sscanf(behind + 1, " %c %d", &state, &p->parent) != 2)
		return false;
	p->ended = state == 'Z' || state == 'X';
	return true;
}

static struct process *list_processes(size_t *n)
{
	DIR *proc = opendir("/proc");
	struct process *v = NULL;
	const struct dirent *d;
	size_t room = 0;

	*n = 0;
	while (proc && (d = readdir(proc))) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		if (!array_grow(&v, *n, &room, sizeof(*v)))
			break;
		*n += read_process(d->d_name, &v[*n]);
	}
	if (proc)
		closedir(proc);
	return v;
}

static bool is_found(const struct process *v, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].pid == pid)
			return v[i].found;
	return false;
}

/* Parents before their children, which a shell would replace. An ended process has no children. */
static size_t signal_children(struct process *v, size_t n, pid_t root, int sig)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i].found || v[i].ended ||
		    (v[i].parent != root && !is_found(v, n, v[i].parent)))
			continue;
		v[i].found = true;
		found++;
		if (sig)
			kill(v[i].pid, sig);
	}
	return found;
}

size_t descendants_signal(pid_t root, int sig)
{
	size_t n, all = 0, more;
	struct process *v = list_processes(&n);

	do { /* a child's pid may be smaller than its parent's */
		more = signal_children(v, n, root, sig);
		all += more;
	} while (more);
	free(v);
	return all;
}
