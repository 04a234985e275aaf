// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/subprocess.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"

static volatile sig_atomic_t interrupted;
static volatile pid_t running; /* 0: nothing */

/* The child gets Ctrl-C from the terminal and handles it. A SIGINT that was sent to this process
 * alone is passed on. */
static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	interrupted = 1;
	if (info->si_code != SI_KERNEL && running)
		kill(running, sig);
	errno = saved;
}

/* The child ends with this process, however this process ends. */
static void __attribute__((noreturn)) become(char *const argv[], const sigset_t *mask)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signals_as_given();
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Blocks SIGINT until `running` is set, so that on_interrupt() can pass it on to the child. */
static pid_t start(char *const argv[])
{
	sigset_t mask, held;
	pid_t pid;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigprocmask(SIG_BLOCK, &held, &mask);
	pid = fork();
	if (pid == 0)
		become(argv, &mask);
	running = pid < 0 ? 0 : pid;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return pid;
}

/* Leaves the child a zombie until on_interrupt() can no longer signal it: once the child is reaped,
 * its pid could be another process's. */
static int wait_for(pid_t pid)
{
	siginfo_t how;
	int status = 0;

	while (waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	running = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int subprocess_run(char *const argv[], struct err *e)
{
	struct sigaction sa = { .sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO }, as_given;
	int code = -1;
	pid_t pid;

	fflush(NULL);
	sigaction(SIGINT, NULL, &as_given);
	signals_catch(SIGINT, &sa);
	pid = start(argv);
	if (pid > 0)
		code = wait_for(pid);
	else
		err_sys(e, EXIT_NO_RESOURCE, "raise the limit of processes (ulimit -u)", "fork");
	sigaction(SIGINT, &as_given, NULL);
	return interrupted && code >= 0 ? EXIT_INTERRUPTED : code;
}
