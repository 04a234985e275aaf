// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/experiment_steps.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sweep/python.h"
#include "base/signals.h"

static volatile sig_atomic_t interrupted;
static volatile pid_t running; /* 0: nothing */

/* Ctrl-C reaches the child by itself, and is its to answer; what is sent to us alone is passed on. */
static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	interrupted = 1;
	if (info->si_code != SI_KERNEL && running)
		kill(running, sig);
	errno = saved;
}

/* The child dies with us, however we end. */
static void __attribute__((noreturn)) become(char *const argv[], const sigset_t *mask)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signals_as_given();
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* An interrupt waits until there is a child to be told of it. */
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

/* It is left as it ended until nobody can signal it any more: its number could be another's. */
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

static int run_child(char *const argv[], struct err *e)
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
		err_sys(e, EXIT_NO_RESOURCE, "raise the limit of processes (ulimit -u)", "experiment: fork");
	sigaction(SIGINT, &as_given, NULL);
	return interrupted && code >= 0 ? EXIT_INTERRUPTED : code;
}

static void say_command(const struct plan_run *r)
{
	fprintf(stderr, "  ipcstall");
	for (size_t i = 0; i < r->n; i++)
		fprintf(stderr, " %s", r->words[i]);
	fputc('\n', stderr);
}

int step_sweep(struct plan_run *r, const char *dir, bool resume, struct err *e)
{
	static char self[] = "/proc/self/exe", out[] = "--out", again[] = "--resume";
	char *argv[PLAN_WORDS_MAX + 1] = { self }, path[PATH_MAX];
	bool there;
	size_t n = 1;
	int code;

	snprintf(path, sizeof(path), "%s/%s.ndjson", dir, r->name);
	there = resume && access(path, F_OK) == 0; /* the sweep itself knows whether it is this one, and complete */
	say_command(r);
	for (size_t i = 0; i < r->n; i++)
		argv[n++] = r->words[i];
	argv[n++] = out;
	argv[n++] = path;
	if (there)
		argv[n++] = again;
	code = run_child(argv, e);
	if (code > 0)
		return err_set(e, (enum exit_code)code, "experiment: the run '%s' ended with %d, see the line above; mend it and go on with --resume --out %s",
			       r->name, code, dir);
	return code;
}

int step_answer(const char *file, const char *dir, bool quick, struct err *e)
{
	struct python p;
	const char *argv[PYTHON_WORDS + 6] = {}, **words = argv + PYTHON_WORDS;
	int code;

	if (!python_start(&p, argv))
		return err_set(e, EXIT_NO_FEATURE, "experiment: analysis/ is not beside this program, or others may write there; the data are in %s, answer "
						   "them with: python3 -m analysis experiment %s --data %s", dir, file, dir);
	words[0] = "experiment";
	words[1] = file;
	words[2] = "--data";
	words[3] = dir;
	words[4] = quick ? "--quick" : NULL;
	code = run_child((char *const *)argv, e);
	if (code == 126 || code == 127)
		return err_set(e, EXIT_NO_FEATURE, "experiment: %s cannot be run; install Python 3 or set PYTHON; the data are in %s", argv[0], dir);
	return code;
}
