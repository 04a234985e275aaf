// SPDX-License-Identifier: GPL-2.0-only
#include "host/asleep.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "host/proc.h"
#include "host/thread_call.h"

static const char TIMER[] = "a timer", EVENTS[] = "events", DATA[] = "data to read",
		  ROOM[] = "room to write", CHILD[] = "a child process", DISK[] = "a disk",
		  SIGNAL[] = "a signal", FILE_LOCK[] = "a lock on a file",
		  CONNECTION[] = "a connection", IO[] = "I/O", FILES[] = "a file";

#define CALL(name, what) { SYS_##name, #name, what }

static const struct {
	int nr;
	const char *name, *what;
} calls[] = {
	CALL(futex, "a lock, or another thread"),
	CALL(nanosleep, TIMER),
	CALL(clock_nanosleep, TIMER),
	CALL(epoll_pwait, EVENTS),
	CALL(epoll_pwait2, EVENTS),
	CALL(ppoll, EVENTS),
	CALL(pselect6, EVENTS),
#ifdef SYS_epoll_wait /* newer architectures have the four above alone */
	CALL(epoll_wait, EVENTS),
	CALL(poll, EVENTS),
	CALL(select, EVENTS),
	CALL(pause, SIGNAL),
#endif
	CALL(read, DATA),
	CALL(readv, DATA),
	CALL(recvfrom, DATA),
	CALL(recvmsg, DATA),
	CALL(recvmmsg, DATA),
	CALL(write, ROOM),
	CALL(writev, ROOM),
	CALL(sendto, ROOM),
	CALL(sendmsg, ROOM),
	CALL(accept, CONNECTION),
	CALL(accept4, CONNECTION),
	CALL(connect, CONNECTION),
	CALL(wait4, CHILD),
	CALL(waitid, CHILD),
	CALL(fsync, DISK),
	CALL(fdatasync, DISK),
	CALL(msync, DISK),
	CALL(pread64, FILES),
	CALL(pwrite64, FILES),
	CALL(openat, FILES),
#ifdef SYS_open
	CALL(open, FILES),
#endif
	CALL(getdents64, FILES),
	CALL(flock, FILE_LOCK),
	CALL(fcntl, FILE_LOCK),
	CALL(io_uring_enter, IO),
	CALL(io_getevents, IO),
	CALL(semtimedop, "a semaphore"),
	CALL(rt_sigtimedwait, SIGNAL),
	CALL(rt_sigsuspend, SIGNAL),
};

static int row_of(int nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return (int)i;
	return -1;
}

void asleep_name(int nr, char *buf, size_t len)
{
	int row = row_of(nr);

	if (row >= 0)
		snprintf(buf, len, "%s", calls[row].name);
	else
		snprintf(buf, len, nr < 0 ? "no system call" : "system call %d", nr);
}

const char *asleep_for(const struct asleep_call *call)
{
	int row = row_of(call->nr);

	if (row < 0)
		return NULL;
	if (call->no_files)
		return TIMER;
	return call->timed_futex ? "a lock, another thread or a timer" : calls[row].what;
}

static bool is_mostly_in(const struct asleep *a, size_t row)
{
	return row < a->n && 2 * asleep_in_call(a, row) >= a->samples;
}

bool asleep_is_elsewhere(const struct asleep *a)
{
	static const char *const by_others[] = { EVENTS, DATA, ROOM, CONNECTION, CHILD, SIGNAL };
	const char *what = a->n ? asleep_for(&a->v[0]) : NULL;

	if (!what || !is_mostly_in(a, 0))
		return false;
	for (size_t i = 0; i < sizeof(by_others) / sizeof(by_others[0]); i++)
		if (what == by_others[i])
			return *a->v[0].path;
	return true;
}

bool asleep_by_its_own_code(const struct asleep *a)
{
	return is_mostly_in(a, 0) && (a->v[0].nr == SYS_futex || asleep_for(&a->v[0]) == TIMER);
}

bool asleep_is_idle(const struct thread_call *call)
{
	int row = row_of((int)call->nr);
	bool timer = thread_call_polls_nothing(call) && !thread_call_sleeps_for_ever(call);
	const char *what = row < 0 || timer ? NULL : calls[row].what;

	return what == EVENTS || what == CONNECTION || what == SIGNAL || call->nr == SYS_futex;
}

bool asleep_is_receive(long nr)
{
	int row = row_of((int)nr);

	return row >= 0 && calls[row].what == DATA;
}

bool asleep_seems_idle(const struct asleep *a)
{
	const char *what = a->n ? asleep_for(&a->v[0]) : NULL;

	return is_mostly_in(a, 0) && (what == EVENTS || what == CONNECTION || what == SIGNAL);
}

bool asleep_connects(const struct asleep_call *call)
{
	return call->nr == SYS_connect && *call->path;
}

bool asleep_opens(const struct asleep *a)
{
	return is_mostly_in(a, 0) && 2 * a->v[0].found >= a->samples &&
	       (asleep_connects(&a->v[0]) || a->v[0].opens_fifo);
}

bool asleep_for_events(const struct asleep *a)
{
	return is_mostly_in(a, 0) && asleep_for(&a->v[0]) == EVENTS;
}

bool asleep_for_child(const struct asleep *a)
{
	return is_mostly_in(a, 0) && asleep_for(&a->v[0]) == CHILD;
}

bool asleep_at_fd(const struct asleep *a)
{
	return a->n && 2 * a->v[0].found >= a->samples && a->v[0].at_fd && !*a->v[0].path;
}

static bool is_same_call(const struct asleep_call *a, const struct asleep_call *b)
{
	return a->nr == b->nr && a->no_files == b->no_files && a->timed_futex == b->timed_futex;
}

static bool is_same_row(const struct asleep_call *a, const struct asleep_call *b)
{
	return is_same_call(a, b) && a->at_fd == b->at_fd && a->fd == b->fd &&
	       a->opens_fifo == b->opens_fifo && !strcmp(a->path, b->path);
}

unsigned int asleep_in_call(const struct asleep *a, size_t row)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (!is_same_call(&a->v[i], &a->v[row]))
			continue;
		if (i < row)
			return 0;
		sum += a->v[i].found;
	}
	return sum;
}

static bool takes_fd(const struct thread_call *call, const char *what)
{
	return what == DATA || what == ROOM || (what == DISK && call->nr != SYS_msync) ||
	       call->nr == SYS_pread64 || call->nr == SYS_pwrite64;
}

/* of poll() and select() with one descriptor, which is to be read */
static bool polls_one(pid_t tid, const struct thread_call *call, uint64_t *fd)
{
	bool one = (thread_call_is_poll(call) && call->args[1] == 1) ||
		   (thread_call_is_select(call) && !call->args[2]);

	return one && thread_call_polled(tid, call, fd, 1) == 1;
}

static struct asleep_call row_for(const struct asleep *a, const struct thread_call *call)
{
	struct asleep_call c = { .nr = (int)call->nr,
				 .no_files = thread_call_polls_nothing(call),
				 .timed_futex = thread_call_is_timed_futex(call) };
	int row = row_of(c.nr);
	const char *what = row < 0 ? NULL : calls[row].what;
	uint64_t polled;

	if (takes_fd(call, what)) {
		c.at_fd = true;
		c.fd = (int)call->args[0];
		c.writes = what == ROOM || call->nr == SYS_pwrite64;
	} else if (polls_one(a->tid, call, &polled)) {
		c.at_fd = true;
		c.fd = (int)polled;
	}
	return c;
}

static void count(struct asleep *a, const struct asleep_call *c)
{
	size_t i = 0;

	while (i < a->n && !is_same_row(&a->v[i], c))
		i++;
	if (i == ASLEEP_CALLS) /* too many */
		return;
	if (i == a->n)
		a->v[a->n++] = *c;
	a->v[i].found++;
}

pid_t asleep_only_thread(pid_t pid)
{
	struct stat st;

	/* ".", ".." and itself */
	return !stat(proc_path(pid, "task").text, &st) && st.st_nlink == 3 ? pid : 0;
}

struct tids {
	pid_t *v;
	size_t n, max;
};

static void add_tid(void *ctx, int dir, long tid)
{
	struct tids *t = ctx;

	(void)dir;
	if (t->n < t->max)
		t->v[t->n] = (pid_t)tid;
	t->n++;
}

size_t asleep_threads(pid_t pid, pid_t *tids, size_t max)
{
	struct tids t = { tids, 0, max };

	proc_numbers(proc_path(pid, "task").text, add_tid, &t);
	return t.n <= max ? t.n : 0;
}

/* "7 (a name) D 1 ..." */
static bool is_uninterruptible(const struct asleep *a)
{
	struct proc_path path = proc_path(a->pid, "task/%d/stat", (int)a->tid);
	char line[200];
	const char *after;

	after = text_first_line(path.text, line, sizeof(line)) ? strrchr(line, ')') : NULL;
	return after && after[1] == ' ' && after[2] == 'D';
}

/* The kernel says so: to look at the path itself may take as long as the thread's own open(), of a
 * file server that is gone. */
static bool opens_fifo(const struct asleep *a)
{
	return thread_sleeps_in(a->pid, a->tid, "wait_for_partner", "fifo_open");
}

/* consoles, serial lines, pseudo-terminals, /dev/tty and /dev/console */
static bool is_tty(unsigned int major, unsigned int minor)
{
	return major == 4 || (major >= 136 && major <= 143) || (major == 5 && minor <= 1);
}

/* A file, a disk or a terminal: that may take long, but it waits for no process. */
static void note_file(const struct asleep *a, struct asleep_call *c)
{
	struct proc_path path = proc_path(a->pid, "fd/%d", c->fd);
	struct statx st;
	ssize_t len;

	if (statx(AT_FDCWD, path.text, AT_STATX_DONT_SYNC, STATX_TYPE, &st) ||
	    (!S_ISREG(st.stx_mode) && !S_ISBLK(st.stx_mode) && !S_ISCHR(st.stx_mode)))
		return;
	c->is_terminal = S_ISCHR(st.stx_mode) && is_tty(st.stx_rdev_major, st.stx_rdev_minor);
	len = readlink(path.text, c->path, sizeof(c->path) - 1);
	c->path[len > 0 ? len : 0] = '\0';
}

static void note_path(const struct asleep *a, struct asleep_call *c, const struct thread_call *call)
{
	if (c->at_fd)
		note_file(a, c);
	else if (thread_call_path(a->tid, call, c->path, sizeof(c->path)))
		c->opens_fifo = !thread_call_connects(call) && opens_fifo(a);
	text_clean(c->path, sizeof(c->path));
}

/* strace, or a debugger that lets it run */
static void note_tracer(struct asleep *a)
{
	a->tracer.pid = process_tracer(a->pid);
	if (a->tracer.pid)
		process_comm(a->tracer.pid, a->tracer.comm);
}

bool asleep_sample(struct asleep *a)
{
	struct thread_call call;
	enum thread_state state = thread_call_read(a->pid, a->tid, &call);

	if (state == THREAD_GONE)
		return false;
	if (!a->samples++) {
		process_comm(a->pid, a->comm);
		note_tracer(a);
	}
	if (state == THREAD_RUNS) {
		a->running++;
	} else {
		struct asleep_call is = row_for(a, &call);

		note_path(a, &is, &call);
		count(a, &is);
	}
	a->disk += is_uninterruptible(a);
	return true;
}

static int by_found(const void *x, const void *y)
{
	const struct asleep_call *a = x, *b = y;

	return COMPARE(b->found, a->found);
}

void asleep_sort(struct asleep *a)
{
	qsort(a->v, a->n, sizeof(a->v[0]), by_found);
}

void asleep_take_samples(struct asleep *a, const struct asleep *from)
{
	a->tid = from->tid;
	memcpy(a->comm, from->comm, sizeof(a->comm));
	a->tracer = from->tracer;
	a->samples = from->samples;
	a->running = from->running;
	a->disk = from->disk;
	a->rests = 0;
	a->n = from->n;
	memcpy(a->v, from->v, sizeof(a->v));
}

/* At most this much of the time in which nobody waits for it, and a tenth of all for chance. */
#define REST_TIMES 1.2
#define BY_CHANCE  0.1

bool asleep_may_rest(const struct asleep *a)
{
	static const char *const for_requests[] = { EVENTS, DATA, CONNECTION, SIGNAL };
	const char *what = a->n ? asleep_for(&a->v[0]) : NULL;
	bool rests = a->n && a->v[0].nr == SYS_futex; /* a thread of a pool */

	for (size_t i = 0; i < sizeof(for_requests) / sizeof(for_requests[0]); i++)
		rests |= what == for_requests[i];
	return rests && a->awaited > 0 && !a->at_work && !*a->v[0].path &&
	       a->v[0].found + a->rests <=
		       (REST_TIMES * (1 - a->awaited) + BY_CHANCE) * (a->samples + a->rests);
}

bool asleep_has_waiter(const struct asleep *a, pid_t pid)
{
	return pid && (pid == a->waiters[0] || pid == a->waiters[1]);
}

#define ENOUGH_OTHERS 3 /* samples */

void asleep_leave_out_rests(struct asleep *a)
{
	unsigned int rests = a->n ? a->v[0].found : 0, others = a->samples - a->running - rests;

	if (!asleep_may_rest(a) || others < ENOUGH_OTHERS ||
	    2 * others < a->awaited * (a->samples + a->rests))
		return;
	a->rests += rests;
	a->samples -= rests;
	a->n--;
	memmove(a->v, a->v + 1, a->n * sizeof(a->v[0]));
}
