// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall attach: the ledgers of programs that already run. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/command.h"
#include "commands/live.h"
#include "lib/clock.h"

static const struct opt attach_options[] = {
	OPT_HEAD("Whom to look at (at least one)"),
	{ OPT_MULTI, 'p', "pid", "PID", "this process and what it forks from now on (several: repeat)", LIVE_OPT(pids) },
	{ OPT_STRING, 0, "comm", "NAME", "every process of this name that runs now", LIVE_OPT(comm) },
	{ OPT_STRING, 'c', "cgroup", "PATH", "the processes of this cgroup v2 directory", LIVE_OPT(cgroup) },
	{ OPT_FLAG, 'a', "all", NULL, "every process of this machine", LIVE_OPT(all) },
	LIVE_OPTIONS,
	{ OPT_TIME, 'd', "duration", "TIME", "stop after this time (default: at Ctrl-C)", LIVE_OPT(duration_ns) },
	OPT_END,
};

static int add_pid(struct trace_options *t, long pid, const char *from, struct err *e)
{
	if (t->n_tgids == TRACE_TGIDS)
		return err_set(e, EXIT_BAD_USAGE, "%s: more than %d processes; attach to their cgroup (-c), or to all (-a)", from, TRACE_TGIDS);
	t->tgids[t->n_tgids++] = (pid_t)pid;
	return 0;
}

static int check_pid(const char *text, long *pid, struct err *e)
{
	char *end;

	*pid = strtol(text, &end, 10);
	if (end == text || *end || *pid < 1 || *pid > 4194304)
		return err_set(e, EXIT_BAD_USAGE, "--pid '%s': not a process id; see `pgrep NAME`", text);
	if (kill((pid_t)*pid, 0) && errno == ESRCH)
		return err_set(e, EXIT_NO_RESOURCE, "--pid %s: no such process; see `pgrep NAME`", text);
	if (errno == EPERM && kill((pid_t)*pid, 0))
		return err_set(e, EXIT_NO_PERM, "--pid %s: it belongs to another user; run as root or as that user", text);
	return 0;
}

static bool comm_is(const char *pid, const char *name)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	f = fopen(path, "r");
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
		if (isdigit((unsigned char)d->d_name[0]) && comm_is(d->d_name, name))
			rc = add_pid(t, atol(d->d_name), "--comm", e);
	closedir(proc);
	if (rc == 0 && t->n_tgids == before)
		return err_set(e, EXIT_NO_RESOURCE, "--comm '%s': no process of this name runs; see `ps -e`", name);
	return rc;
}

static int choose(const struct live_opts *o, struct trace_options *t, struct err *e)
{
	int ways = !!o->all + !!o->cgroup + (o->pids.n || o->comm);
	long pid;

	if (ways == 0)
		return err_set(e, EXIT_BAD_USAGE, "attach: to whom?; give -p PID, --comm NAME, -c CGROUP or -a");
	if (ways > 1)
		return err_set(e, EXIT_BAD_USAGE, "attach: -a, -c and -p/--comm exclude each other; give one of them");
	t->filter = o->all ? TRACE_FILTER_ALL : o->cgroup ? TRACE_FILTER_CGROUP : TRACE_FILTER_TREE;
	t->cgroup = o->cgroup;
	for (size_t i = 0; i < o->pids.n; i++)
		if (check_pid(o->pids.v[i], &pid, e) || add_pid(t, pid, "--pid", e))
			return -1;
	return o->comm ? add_by_comm(t, o->comm, e) : 0;
}

static bool any_alive(const struct trace_options *t)
{
	for (size_t i = 0; i < t->n_tgids; i++)
		if (kill(t->tgids[i], 0) == 0 || errno == EPERM)
			return true;
	return t->n_tgids == 0;
}

static void watch(struct live *l, const struct trace_options *t)
{
	uint64_t deadline = l->o->duration_ns ? now_ns() + (uint64_t)l->o->duration_ns : UINT64_MAX;

	while (!live_interrupted() && any_alive(t)) {
		uint64_t now = now_ns();

		if (now >= deadline)
			return;
		trace_poll(l->t, deadline - now < 100000000 ? (int)((deadline - now) / 1000000) + 1 : 100);
	}
}

static json_t *about_filter(const struct live_opts *o, const struct trace_options *t)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < t->n_tgids; i++)
		json_array_append_new(pids, json_integer(t->tgids[i]));
	return json_pack("{s:{s:o, s:s?, s:s?, s:b}}", "attached_to", "pids", pids, "comm", o->comm, "cgroup", o->cgroup, "all", o->all);
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	struct trace_options filter = {};
	struct live_opts *o = opts;
	struct live l = {};
	json_t *about;
	int rc;

	if (choose(o, &filter, e))
		return -1;
	live_catch_signals();
	if (live_begin(&l, o, &filter, e))
		return -1;
	if (!o->quiet)
		fprintf(stderr, "ipcstall: attached; %s\n", o->duration_ns ? "waiting" : "Ctrl-C ends it");
	watch(&l, &filter);
	rc = live_end(&l, e);
	if (rc == 0) {
		about = about_filter(o, &filter);
		rc = live_report(&l, about, e);
		json_decref(about);
	}
	live_free(&l);
	return rc ? e->code : EXIT_DONE;
}

const struct command command_attach = {
	.name = "attach",
	.summary = "Show where the conversations of running programs wait",
	.description = "Picks up connections in mid-life: what was before is unknown, and said to be. Ends at Ctrl-C, after --duration, or when\n"
		       "the last process it was given ends.",
	.examples = "ipcstall attach -p 1234 -d 10s\tten seconds of one server\n"
		    "ipcstall attach -a -P 5432 -d 1m\tevery conversation on port 5432\n",
	.options = attach_options,
	.options_size = sizeof(struct live_opts),
	.defaults = live_defaults,
	.run = run,
};
