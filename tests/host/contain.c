// SPDX-License-Identifier: GPL-2.0-only
/*
 * contain [-r FILE] COMMAND...: run a test so that nothing is left of it, and say what the host
 * took meanwhile.
 *
 * Two processes stand between the caller and the command. The front is the one that the caller
 * started; it passes on signals and the exit status. The keeper adopts every orphan below it
 * (PR_SET_CHILD_SUBREAPER). When the command has ended, or the front, its parent or a `make` or
 * `run` above it dies, by whatever signal, the keeper kills all that is below it. If the keeper
 * itself is killed, the front does the same. The outermost contain also gives the command mounts of
 * its own, with an empty /run/netns, and a TMPDIR of its own: so namespaces, mounts and files go
 * with the processes.
 *
 * -r FILE: at the end a line is written there, "noisy: ..." or "quiet: ...", see taken.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "taken.h"

#define MOST_WATCHED 16
#define PATIENCE_MS \
	3000 /* for a command that was asked to end; the front has as much again for the keeper */
#define MARK "IPCSTALL_CONTAINED"

static const char *report_to;
static bool outermost;
static char folder[64]; /* TMPDIR, where it is ours */

static void die(const char *what)
{
	fprintf(stderr, "contain: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* --- processes --- */

struct parentage {
	pid_t pid, parent;
	char comm[17];
};

static bool parentage_of(pid_t pid, struct parentage *p)
{
	char path[32], line[256], *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	fclose(f);
	end = strrchr(line, ')');
	if (!end || !strchr(line, '('))
		return false;
	*end = '\0';
	p->pid = pid;
	snprintf(p->comm, sizeof(p->comm), "%s", strchr(line, '(') + 1);
	return sscanf(end + 1, " %*c %d", &p->parent) == 1;
}

static struct parentage *all_processes(size_t *n)
{
	struct parentage *list = NULL;
	size_t room = 0;
	struct dirent *d;
	DIR *dir = opendir("/proc");

	*n = 0;
	while (dir && (d = readdir(dir))) {
		if (*n == room) {
			room = 2 * room + 256;
			list = realloc(list, room * sizeof(*list));
			if (!list)
				die("memory");
		}
		if (atoi(d->d_name) > 0 && parentage_of(atoi(d->d_name), &list[*n]))
			(*n)++;
	}
	if (dir)
		closedir(dir);
	return list;
}

static bool is_below(const struct parentage *list, size_t n, pid_t pid, pid_t top)
{
	for (size_t depth = 0; pid > 1 && depth < n; depth++) {
		size_t i = 0;

		while (i < n && list[i].pid != pid)
			i++;
		if (i == n)
			return false;
		pid = list[i].parent;
		if (pid == top)
			return true;
	}
	return false;
}

/* How many there were below this process; those which have not ended yet, zombies too, are killed.
 */
static int kill_below(bool tell)
{
	size_t n;
	struct parentage *list = all_processes(&n);
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_below(list, n, list[i].pid, getpid()))
			continue;
		found++;
		kill(list[i].pid, SIGKILL);
		if (tell)
			fprintf(stderr, "contain: %s (%d) outlived the test and was ended\n",
				list[i].comm, list[i].pid);
	}
	free(list);
	return found;
}

static bool reap(pid_t awaited, int *status)
{
	bool ended = false;
	int s;

	for (pid_t pid; (pid = waitpid(-1, &s, WNOHANG)) > 0;)
		if (pid == awaited) {
			*status = s;
			ended = true;
		}
	return ended;
}

/* What forks between the look and the kill is found by the next look. */
static void end_all(bool tell)
{
	int status;

	reap(0, &status);
	for (int i = 0; kill_below(tell && i == 0) && i < 1000; i++) {
		struct timespec pause = { .tv_nsec = 5000000 };

		reap(0, &status);
		nanosleep(&pause, NULL);
		reap(0, &status);
	}
}

/* --- what goes with the processes, and what does not --- */

static void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return; /* without the right to mount, a test makes no named namespace either */
	mkdir("/run/netns", 0755);
	mount("none", "/run/netns", "tmpfs", 0, "mode=755");
}

static void own_folder(void)
{
	const char *top = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/ipcstall.XXXXXX",
		 top && strlen(top) < 40 ? top : "/tmp");
	if (!mkdtemp(folder))
		die(folder);
	chmod(folder, 0755); /* a test may run a program as another user */
	setenv("TMPDIR", folder, 1);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	remove(path);
	return 0;
}

/* A control group's name ends with the process that made it: "ipcstall-frozen-1234". */
static int remove_group(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	const char *name = path + at->base, *pid = strrchr(name, '-');

	(void)st;
	if (kind == FTW_DP && !strncmp(name, "ipcstall-", 9) && kill(atoi(pid + 1), 0) &&
	    errno == ESRCH)
		rmdir(path);
	return 0;
}

static void remove_groups(void)
{
	char line[512], where[256], type[32];
	FILE *f = fopen("/proc/self/mounts", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %255s %31s", where, type) == 2 && !strcmp(type, "cgroup2"))
			nftw(where, remove_group, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	if (f)
		fclose(f);
}

static void clean_up(bool tell)
{
	end_all(tell);
	if (!outermost)
		return;
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	remove_groups();
}

/* --- waiting --- */

static int fd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* The parent, and all up to the topmost make or run: whoever kills that one means the tests too. */
static int watch_callers(struct pollfd *fds, int room)
{
	struct parentage p = { .parent = getppid() };
	pid_t chain[MOST_WATCHED];
	int n = 0, wanted = 1;

	for (pid_t pid = p.parent; pid > 1 && n < room && parentage_of(pid, &p); pid = p.parent) {
		chain[n++] = pid;
		if (!strcmp(p.comm, "make") || !strcmp(p.comm, "run")) /* tests/run, .ci/run */
			wanted = n;
	}
	n = n < wanted ? n : wanted;
	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = fd_of(chain[i]), .events = POLLIN };
	return n;
}

static int signals_as_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (const int *s = (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, 0 }; *s; s++)
		sigaddset(&set, *s);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

struct wait {
	pid_t child;
	pid_t passed_to; /* signals: the child, or its group */
	int n_callers;
	struct pollfd fds[MOST_WATCHED + 1];
	int status;
	int patience_ms;
	long long until; /* 0: no end is in sight */
};

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static bool a_caller_died(const struct wait *w)
{
	for (int i = 1; i <= w->n_callers; i++)
		if (w->fds[i].fd >= 0 && w->fds[i].revents)
			return true;
	return false;
}

static void pass_on_signals(struct wait *w)
{
	struct signalfd_siginfo s;

	while (read(w->fds[0].fd, &s, sizeof(s)) == sizeof(s))
		if (s.ssi_signo != SIGCHLD) {
			kill(w->passed_to, (int)s.ssi_signo);
			if (!w->until)
				w->until = now_ms() + w->patience_ms;
		}
}

/* Until the child has ended: true; or is to be killed: false. */
static bool wait_for_child(struct wait *w)
{
	for (;;) {
		long long left = w->until ? w->until - now_ms() : -1;

		if (reap(w->child, &w->status))
			return true;
		if (w->until && left <= 0)
			return false;
		if (poll(w->fds, (nfds_t)w->n_callers + 1, (int)left) < 0 && errno != EINTR)
			die("poll");
		pass_on_signals(w);
		if (a_caller_died(w))
			return false;
	}
}

static int as_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- the keeper and the front --- */

static pid_t start(char **command)
{
	pid_t pid = fork();
	sigset_t none;

	if (pid < 0)
		die("fork");
	if (pid) {
		setpgid(pid, pid);
		return pid;
	}
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(command[0], command);
	fprintf(stderr, "contain: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

static int keep(struct wait *w, char **command)
{
	bool by_itself;

	setsid();
	prctl(PR_SET_NAME, "contain-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (outermost)
		own_mounts();
	setenv(MARK, "1", 1);
	if (report_to)
		taken_start();
	w->child = start(command);
	w->passed_to = -w->child;
	w->patience_ms = PATIENCE_MS;
	by_itself = wait_for_child(w);
	clean_up(by_itself && !w->until);
	if (report_to)
		taken_report(report_to);
	return by_itself ? as_code(w->status) : 137;
}

static pid_t start_keeper(struct wait *w, char **command)
{
	pid_t front = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	w->fds[1 + w->n_callers++] = (struct pollfd){ .fd = fd_of(front), .events = POLLIN };
	exit(getppid() == front ? keep(w, command) : 137);
}

int main(int argc, char **argv)
{
	struct wait w = { .patience_ms = 2 * PATIENCE_MS };
	int first = 1;

	if (argc > 3 && !strcmp(argv[1], "-r")) {
		report_to = argv[2];
		first = 3;
	}
	if (argc <= first || argv[first][0] == '-') {
		fprintf(stderr, "usage: contain [-r FILE] COMMAND...\n");
		return 125;
	}
	outermost = !getenv(MARK);
	if (outermost)
		own_folder();
	w.n_callers = watch_callers(w.fds + 1, MOST_WATCHED - 1);
	w.fds[0] = (struct pollfd){ .fd = signals_as_fd(), .events = POLLIN };
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	w.child = w.passed_to = start_keeper(&w, argv + first);
	if (wait_for_child(&w) && WIFEXITED(w.status))
		return WEXITSTATUS(w.status);
	clean_up(false);
	return 137;
}
