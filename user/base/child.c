// SPDX-License-Identifier: GPL-2.0-only
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descendants.h"
#include "base/signals.h"

/* What the child does between fork and exec: wait at the gate; a closed gate means that the tracer
 * gave up or died. */
static void __attribute__((noreturn))
wait_and_exec(int gate, int report, char *const argv[], const struct identity *as)
{
	char go;
	int why;

	signals_as_given();
	if (read(gate, &go, 1) != 1)
		_exit(127);
	if (identity_take(as)) {
		why = -errno;
	} else {
		execvp(argv[0], argv);
		why = errno;
	}
	if (write(report, &why, sizeof(why)) != sizeof(why))
		_exit(126);
	_exit(127);
}

/* an errno as execve() would give it; 0: it can be tried */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

/* Searches as execvp() does: skips files that may not be run; they are the reason only if nothing
 * else is found. */
static int search_path(const char *name)
{
	const char *path = getenv("PATH");
	char where[PATH_MAX];
	int why = ENOENT;

	for (path = path ? path : "/bin:/usr/bin"; path;
	     path = strchr(path, ':') ? strchr(path, ':') + 1 : NULL) {
		int n = (int)strcspn(path, ":"), found;

		if ((size_t)snprintf(where, sizeof(where), "%.*s%s%s", n, path, n ? "/" : "",
				     name) >= sizeof(where))
			continue;
		found = executable(where);
		if (!found)
			return 0;
		why = found == EACCES ? EACCES : why;
	}
	return why;
}

static int cannot_run(const char *name, int why, struct err *e)
{
	return err_set(e, why == EACCES ? EXIT_NO_PERM : EXIT_BAD_USAGE,
		       "%s: %s; give a program that can be run, after --", name, strerror(why));
}

static int check_program(const char *name, struct err *e)
{
	int why = !*name ? ENOENT : strchr(name, '/') ? executable(name) : search_path(name);

	return why ? cannot_run(name, why, e) : 0;
}

/* Become a subreaper, so that the command's orphans come to us and stay in sight. But a shell that
 * became this program by exec may have left us children, whose orphans would come to us too and be
 * taken for the command's. So do nothing if we have children. */
static bool adopt_orphans(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD &&
	       !prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int child_spawn(struct child *c, char *const argv[], const struct identity *as, struct err *e)
{
	int gate[2], report[2];

	*c = (struct child){ .pid = -1, .gate = -1, .exec_error = -1, .adopts = adopt_orphans() };
	if (check_program(argv[0], e))
		return -1;
	if (pipe2(gate, O_CLOEXEC))
		return err_sys(e, EXIT_NO_RESOURCE, "raise the limit of open files (ulimit -n)",
			       "run: pipe");
	if (pipe2(report, O_CLOEXEC)) {
		close(gate[0]);
		close(gate[1]);
		return err_sys(e, EXIT_NO_RESOURCE, "raise the limit of open files (ulimit -n)",
			       "run: pipe");
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(gate[1]);
		close(report[0]);
		wait_and_exec(gate[0], report[1], argv, as);
	}
	close(gate[0]);
	close(report[1]);
	c->gate = gate[1];
	c->exec_error = report[0];
	if (c->pid < 0) {
		child_end(c, 0);
		return err_sys(e, EXIT_NO_RESOURCE, "raise the limit of processes (ulimit -u)",
			       "run: fork");
	}
	return 0;
}

static void close_ends(struct child *c)
{
	if (c->gate >= 0)
		close(c->gate);
	if (c->exec_error >= 0)
		close(c->exec_error);
	c->gate = c->exec_error = -1;
}

int child_go(struct child *c, const char *name, struct err *e)
{
	int why = 0;
	ssize_t n = write(c->gate, "g", 1);

	if (n == 1)
		do
			n = read(c->exec_error, &why, sizeof(why));
		while (n < 0 && errno == EINTR);
	close_ends(c);
	if (n == 0)
		return 0;
	if (n < 0 || !why)
		return err_peer(e, "%s: died before it could start; run it by hand to see why",
				name);
	child_wait(c, 0);
	if (why < 0)
		return err_perm(e, "%s: cannot be run as that user: %s; give --as-root", name,
				strerror(-why));
	return cannot_run(name, why, e);
}

/* all but the child itself, whose status is wanted */
static void reap_adopted(const struct child *c)
{
	siginfo_t info = {};

	while (c->adopts && !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
	       (c->reaped || info.si_pid != c->pid)) {
		waitpid(info.si_pid, NULL, 0);
		info.si_pid = 0;
	}
}

static void reap(struct child *c, int flags)
{
	if (!c->reaped && waitpid(c->pid, &c->status, flags) == c->pid)
		c->reaped = true;
	reap_adopted(c);
}

static int timeout_ms(uint64_t deadline_ns)
{
	uint64_t now = now_ns();

	if (!deadline_ns)
		return -1;
	return deadline_ns <= now ? 0 : (int)((deadline_ns - now + 999999) / 1000000);
}

int child_wait(struct child *c, uint64_t deadline_ns)
{
	int pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int n = poll(&p, 1, timeout_ms(deadline_ns));

	close(pidfd);
	reap(c, WNOHANG);
	if (c->reaped)
		return 1;
	return n < 0 ? -1 : 0;
}

/* Returns how many processes the command has; sig 0: only count them. */
static size_t signal_all(const struct child *c, int sig)
{
	size_t n = 0;

	if (c->adopts)
		n = descendants_signal(getpid(), sig);
	if (n || c->reaped)
		return n;
	kill(c->pid, sig); /* also if /proc shows no processes */
	return 1 + descendants_signal(c->pid, sig);
}

/* false: some are left at the deadline, or a signal ended the wait */
static bool all_ended(struct child *c, uint64_t deadline_ns)
{
	struct timespec nap = { .tv_nsec = 5000000 };

	while (now_ns() < deadline_ns) {
		int ended = c->reaped ? 1 : child_wait(c, deadline_ns);

		if (ended < 0)
			return false;
		if (ended && !signal_all(c, 0))
			return true;
		if (ended && nanosleep(&nap, NULL))
			return false;
		reap(c, WNOHANG);
	}
	return false;
}

enum { KILLS = 100 };

/* repeated for processes started meanwhile, but limited: some cannot be killed */
static void kill_all(struct child *c)
{
	struct timespec nap = { .tv_nsec = 5000000 };

	for (int i = 0; i < KILLS && signal_all(c, SIGKILL); i++) {
		nanosleep(&nap, NULL);
		reap(c, WNOHANG);
	}
}

void child_end(struct child *c, int grace_ms)
{
	close_ends(c);
	if (c->pid <= 0 || c->reaped)
		return;
	signal_all(c, SIGTERM);
	if (!all_ended(c, now_ns() + (uint64_t)grace_ms * 1000000 + 1))
		kill_all(c);
}

int child_exit_code(const struct child *c)
{
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}
