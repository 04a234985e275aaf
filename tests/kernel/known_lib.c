// SPDX-License-Identifier: GPL-2.0-only
/* What all cases need: a clock, parameters, two sides, calls that keep time. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "known.h"

#define EXIT_SKIP 77

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void nap_ns(uint64_t ns)
{
	struct timespec t = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Away from the descriptor, and how long it really was. */
void nap(struct end *e, long ms)
{
	uint64_t from = now_ns();

	if (!ms)
		return;
	nap_ns(ms * NSEC_PER_MSEC);
	e->napped_ns += now_ns() - from;
}

static void complain(const char *verdict, const char *fmt, va_list ap)
{
	char text[256];
	int err = errno;

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "known: %s%s%s%s\n", verdict, text, err ? ": " : "",
		err ? strerror(err) : "");
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain("", fmt, ap);
	va_end(ap);
	_exit(1);
}

/* Not a failure: this kernel or machine has no such thing. The reason is the last line on stdout as
 * well. */
void skip(const char *fmt, ...)
{
	va_list ap;

	errno = 0;
	va_start(ap, fmt);
	complain("skipped: ", fmt, ap);
	va_end(ap);
	_exit(EXIT_SKIP);
}

const char *param_text(struct known *k, const char *key, const char *otherwise)
{
	int i;

	for (i = 0; i < k->nr_params; i++) {
		if (strcmp(k->params[i].key, key))
			continue;
		k->params[i].used = true;
		return k->params[i].value;
	}
	return otherwise;
}

long param(struct known *k, const char *key, long otherwise)
{
	const char *text = param_text(k, key, NULL);
	char *rest;
	long value;

	if (!text)
		return otherwise;
	value = strtol(text, &rest, 10);
	errno = 0;
	if (*rest || rest == text || value < 0)
		die("%s=%s: expected a number, not below 0", key, text);
	return value;
}

/* Ends are made before the sides part, so that both see them. */
struct end *end_new(struct known *k, const char *role, const char *proto)
{
	struct end *e;

	if (k->shared->nr_ends == MAX_ENDS)
		die("too many ends");
	e = &k->shared->ends[k->shared->nr_ends++];
	snprintf(e->role, sizeof(e->role), "%s", role);
	snprintf(e->proto, sizeof(e->proto), "%s", proto);
	e->drops = -1;
	e->opened_ns = now_ns(); /* at the earliest */
	return e;
}

struct end *end_find(struct known *k, const char *role)
{
	int i;

	for (i = 0; i < k->shared->nr_ends; i++)
		if (!strcmp(k->shared->ends[i].role, role))
			return &k->shared->ends[i];
	die("no end called %s", role);
}

static unsigned long long inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

/* What the scheduler gave this thread, and how long it let it wait; 0 where the kernel does not
 * count. */
static void scheduled(uint64_t *cpu, uint64_t *runq)
{
	unsigned long long ran = 0, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		ran = waited = 0;
	if (f)
		fclose(f);
	errno = 0;
	*cpu = ran;
	*runq = waited;
}

/* Time that the host of a virtual machine took from all its processors, in its ticks of 10 ms. */
uint64_t stolen_ns(void)
{
	unsigned long long steal = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (f && fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
		steal = 0;
	if (f)
		fclose(f);
	errno = 0;
	return steal * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
}

/* The calling thread holds this end, by this descriptor. */
void end_here(struct end *e, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		die("fstat of %s", e->role);
	e->inode = st.st_ino;
	e->netns = inode_of("/proc/self/ns/net");
	e->pid = getpid();
	e->tid = syscall(SYS_gettid);
	if (!e->opened_ns)
		e->opened_ns = now_ns();
	scheduled(&e->cpu_before, &e->runq_before);
}

/* It has been closed, by the thread that held it or by another, which knows nothing of the first
 * one's processor time. */
void end_gone(struct end *e)
{
	uint64_t cpu, runq;

	e->closed_ns = now_ns();
	scheduled(&cpu, &runq);
	if (e->tid != syscall(SYS_gettid))
		return;
	e->runq_ns = runq - e->runq_before;
	if (!e->cpu_ns)
		e->cpu_ns = cpu - e->cpu_before;
}

uint64_t cpu_time_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000ull;
}

/* Write all of it; each call is timed. */
void put(struct end *e, int fd, const void *buf, size_t len)
{
	const char *p = buf;

	e->tx_messages++;
	while (len) {
		uint64_t from = now_ns(), took;
		ssize_t n = call_write(fd, p, len);

		took = now_ns() - from;
		if (n <= 0)
			die("%s: write", e->role);
		e->in_write_ns += took;
		e->waits += took > WAITED_NS;
		e->tx_bytes += n;
		p += n;
		len -= n;
	}
}

static uint64_t thread_ran_ns(const struct end *e)
{
	return e->asks_cpu ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

ssize_t get_some(struct end *e, int fd, void *buf, size_t len)
{
	uint64_t from = now_ns(), ran = thread_ran_ns(e), took;
	ssize_t n = call_read(fd, buf, len);

	if (n < 0)
		die("%s: read", e->role);
	ran = thread_ran_ns(e) - ran;
	took = now_ns() - from;
	e->in_read_ns += took;
	e->off_cpu_in_read_ns += took > ran ? took - ran : 0;
	e->rx_bytes += n;
	return n;
}

/* Read all of it; false at the end of the stream before the first byte. */
bool get(struct end *e, int fd, void *buf, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = get_some(e, fd, (char *)buf + have, len - have);

		if (!n && !have)
			return false;
		errno = 0;
		if (!n)
			die("%s: the stream ended early", e->role);
		have += n;
	}
	e->rx_messages++;
	return true;
}

/* Touched beforehand, so that no page fault is timed. */
void *spare_memory(size_t len)
{
	void *p = malloc(len ? len : 1);

	if (!p)
		die("memory");
	memset(p, 'x', len);
	return p;
}

/* --- the other side: a process, or a thread --------------------------------------------------- */

struct side {
	struct known *k;
	side_fn *fn;
	void *arg;
};

static void *side_thread(void *data)
{
	struct side *s = data;

	s->fn(s->k, s->arg);
	free(s);
	return NULL;
}

static void side_process(struct known *k, side_fn *fn, void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	fn(k, arg);
	_exit(0);
}

static pid_t watched;

/* The other end gave up: do not wait for it at a meeting it will not come to. */
static void child_ended(int sig)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, watched, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid != watched)
		return;
	if (info.si_code != CLD_EXITED || info.si_status)
		_exit(info.si_code == CLD_EXITED ? info.si_status : 1);
}

static void watch_child(pid_t pid)
{
	struct sigaction act = { .sa_handler = child_ended, .sa_flags = SA_RESTART | SA_NOCLDSTOP };

	watched = pid;
	sigaction(SIGCHLD, &act, NULL);
	child_ended(SIGCHLD);
}

void other_side(struct known *k, side_fn *fn, void *arg)
{
	if (k->threads) {
		struct side *s = spare_memory(sizeof(*s));

		*s = (struct side){ k, fn, arg };
		if (pthread_create(&k->thread, NULL, side_thread, s))
			die("thread");
		return;
	}
	fflush(NULL);
	k->child = fork();
	if (k->child < 0)
		die("fork");
	if (!k->child)
		side_process(k, fn, arg);
	watch_child(k->child);
}

void join_other_side(struct known *k)
{
	int status;

	if (k->threads) {
		pthread_join(k->thread, NULL);
		return;
	}
	if (waitpid(k->child, &status, 0) != k->child)
		die("waitpid");
	k->child = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP)
		_exit(EXIT_SKIP);
	errno = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die("the other end failed");
}

/* Both sides wait for each other here. */
void meet(struct known *k)
{
	pthread_barrier_wait(&k->shared->meeting);
}

/* --- other programs --------------------------------------------------------------------------- */

static void command_exec(char *line)
{
	char *argv[48], *word, *save;
	int argc = 0;

	for (word = strtok_r(line, " ", &save); word && argc < 47;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

/* Run a command line of plain words, silently; without a shell, since busybox's has an `ip` of its
 * own. */
bool command(const char *line)
{
	char copy[512];
	int status;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s", line);
	pid = fork();
	if (!pid)
		command_exec(copy);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}
