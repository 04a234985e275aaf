// SPDX-License-Identifier: GPL-2.0-only
/* Which processes a command traces: by number or name, a cgroup, or all. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "host/proc.h"
#include "session/session.h"

/* pidfds of the processes given by number or name, in that order. A PID alone does not tell: a
 * zombie keeps it, and it is reused. 0 or less: there is no pidfd. */
static int handles[TRACE_TGIDS];

static int add_pid(struct trace_options *t, long pid, const char *from, struct err *e)
{
	if (t->n_tgids == TRACE_TGIDS)
		return err_usage(
			e,
			"%s: more than %d processes; attach to their cgroup (-c), or to all (-a)",
			from, TRACE_TGIDS);
	handles[t->n_tgids] = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	t->tgids[t->n_tgids++] = (pid_t)pid;
	return 0;
}

static int check_pid(const char *text, long *pid, struct err *e)
{
	if (parse_pid(text, pid))
		return err_usage(e, "--pid '%s': not a process id; see `pgrep NAME`", text);
	if (!process_lives((pid_t)*pid))
		return err_resource(e, "--pid %s: no such process; see `pgrep NAME`", text);
	if (errno == EPERM && kill((pid_t)*pid, 0))
		return err_perm(e,
				"--pid %s: it belongs to another user; run as root or as that user",
				text);
	return 0;
}

/* "12" or "12,13" */
static int add_pids(struct trace_options *t, const char *list, struct err *e)
{
	char *copy = strdup(list), *rest = copy, *one;
	int rc = copy ? 0 : err_resource(e, "out of memory; end other programs");
	long pid;

	while (rc == 0 && (one = strsep(&rest, ",")))
		rc = check_pid(one, &pid, e) ? -1 : add_pid(t, pid, "--pid", e);
	free(copy);
	return rc;
}

static bool comm_is(pid_t pid, const char *name)
{
	char comm[32] = "";
	FILE *f = fopen(proc_path(pid, "comm").text, "re");

	if (!f)
		return false;
	if (fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(f);
	return strncmp(comm, name, 15) == 0;
}

static int add_by_comm(struct trace_options *t, const char *name, struct err *e)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	size_t before = t->n_tgids;
	int rc = 0;

	if (!proc)
		return err_sys(e, EXIT_NO_FEATURE, "mount /proc", "/proc");
	while (rc == 0 && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]) && comm_is(atoi(d->d_name), name))
			rc = add_pid(t, atol(d->d_name), "--comm", e);
	closedir(proc);
	if (rc == 0 && t->n_tgids == before)
		return err_resource(e, "--comm '%s': no process of this name runs; see `ps -e`",
				    name);
	return rc;
}

int targets_from_options(const struct session_opts *o, const char *command, struct trace_options *t,
			 struct err *e)
{
	int ways = !!o->all + !!o->cgroup + (o->pids.n || o->comm);
	bool all = o->all || (ways == 0 && o->ports.n); /* whoever uses that port */

	if (ways == 0 && !all)
		return err_usage(
			e, "%s: no target given; use -p PID, --comm NAME, -c CGROUP, -P PORT or -a",
			command);
	if (ways > 1)
		return err_usage(e, "%s: -a, -c and -p/--comm exclude each other; give one of them",
				 command);
	t->filter = all ? TRACE_FILTER_ALL : o->cgroup ? TRACE_FILTER_CGROUP : TRACE_FILTER_TREE;
	t->cgroup = o->cgroup;
	t->existing = true;
	for (size_t i = 0; i < o->pids.n; i++)
		if (add_pids(t, o->pids.v[i], e))
			return -1;
	return o->comm ? add_by_comm(t, o->comm, e) : 0;
}

int targets_or_all(struct session_opts *o, const char *command, struct trace_options *t,
		   struct err *e)
{
	if (!o->pids.n && !o->comm && !o->cgroup)
		o->all = true;
	return targets_from_options(o, command, t, e);
}

static bool is_alive(pid_t pid, int handle)
{
	struct pollfd p = { .fd = handle, .events = POLLIN };

	if (handle > 0)
		return poll(&p, 1, 0) != 1;
	return kill(pid, 0) == 0 || errno == EPERM;
}

bool targets_any_alive(const struct trace_options *t)
{
	for (size_t i = 0; i < t->n_tgids; i++)
		if (is_alive(t->tgids[i], handles[i]))
			return true;
	return t->n_tgids == 0;
}
