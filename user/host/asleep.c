// SPDX-License-Identifier: GPL-2.0-only
#include "host/asleep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
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
	return call->no_files ? TIMER : calls[row].what;
}

bool asleep_is_elsewhere(const struct asleep *a)
{
	static const char *const by_others[] = { EVENTS, DATA, ROOM, CONNECTION, CHILD, SIGNAL };
	const char *what = a->n ? asleep_for(&a->v[0]) : NULL;

	if (!what || 2 * a->v[0].found < a->looks)
		return false;
	for (size_t i = 0; i < sizeof(by_others) / sizeof(by_others[0]); i++)
		if (what == by_others[i])
			return *a->path && a->path_nr == a->v[0].nr;
	return true;
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

static bool is_on_disk(const char *path)
{
	struct statx st;

	return !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
	       (S_ISREG(st.stx_mode) || S_ISBLK(st.stx_mode));
}

/* The file that it reads, writes or syncs: that may take long, but it waits for no process. */
static bool note_file(struct asleep *a, const struct thread_call *call)
{
	int row = row_of((int)call->nr);
	const char *what = row < 0 ? NULL : calls[row].what;
	char path[48];
	ssize_t len;

	if ((what != DATA && what != ROOM && what != DISK) || call->nr == SYS_msync)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)a->pid, (int)call->args[0]);
	len = is_on_disk(path) ? readlink(path, a->path, sizeof(a->path) - 1) : -1;
	if (len <= 0)
		return false;
	a->path[len] = '\0';
	text_clean(a->path, sizeof(a->path));
	a->path_nr = call->nr;
	return true;
}

static void note_fd(struct asleep *a, const struct thread_call *call)
{
	int row = row_of((int)call->nr);
	uint64_t polled;

	if (row >= 0 && (calls[row].what == DATA || calls[row].what == ROOM))
		a->fd = (long)call->args[0];
	else if ((thread_call_is_poll(call) || thread_call_is_select(call)) &&
		 thread_call_polled(a->tid, call, &polled, 1) == 1)
		a->fd = (long)polled;
	else
		return;
	a->fd_nr = (int)call->nr;
	a->writes = row >= 0 && calls[row].what == ROOM;
}

bool asleep_seems_idle(const struct asleep *a)
{
	const char *what = a->n ? asleep_for(&a->v[0]) : NULL;

	return 2 * (a->n ? a->v[0].found : 0) >= a->looks &&
	       (what == EVENTS || what == CONNECTION || what == SIGNAL ||
		(a->n && a->v[0].nr == SYS_futex));
}

bool asleep_at_fd(const struct asleep *a)
{
	return a->n && 2 * a->v[0].found >= a->looks && a->fd_nr == a->v[0].nr;
}

static void count(struct asleep *a, int nr, bool no_files)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].nr == nr && a->v[i].no_files == no_files) {
			a->v[i].found++;
			return;
		}
	if (a->n < ASLEEP_CALLS)
		a->v[a->n++] = (struct asleep_call){ nr, no_files, 1 };
}

pid_t asleep_only_thread(pid_t pid)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return !stat(path, &st) && st.st_nlink == 3 ? pid : 0; /* ".", ".." and itself */
}

size_t asleep_threads(pid_t pid, pid_t *tids, size_t max)
{
	char path[40];
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid && n < max)
			tids[n] = tid;
		n += tid != 0;
	}
	if (d)
		closedir(d);
	return n <= max ? n : 0;
}

/* "7 (a name) D 1 ..." */
static bool is_uninterruptible(const struct asleep *a)
{
	char path[64], line[200];
	const char *after;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)a->pid, (int)a->tid);
	after = text_first_line(path, line, sizeof(line)) ? strrchr(line, ')') : NULL;
	return after && after[1] == ' ' && after[2] == 'D';
}

void asleep_comm(pid_t pid, char comm[16])
{
	char path[40], line[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	text_comm(comm, text_first_line(path, line, sizeof(line)) ? line : "");
}

/* The kernel says so: to look at the path itself may take as long as the thread's own open(), of a
 * file server that is gone. */
static bool opens_fifo(const struct asleep *a)
{
	return thread_sleeps_in(a->pid, a->tid, "wait_for_partner") ||
	       thread_sleeps_in(a->pid, a->tid, "fifo_open");
}

static void note_path(struct asleep *a, const struct thread_call *call)
{
	if (*a->path || !thread_call_path(a->tid, call, a->path, sizeof(a->path)))
		return;
	text_clean(a->path, sizeof(a->path));
	a->path_nr = call->nr;
	a->opens_fifo = !thread_call_connects(call) && opens_fifo(a);
}

/* strace, or a debugger that lets it run */
static void note_tracer(struct asleep *a)
{
	char path[40], pid[16];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)a->pid);
	if (!text_field(path, "TracerPid", pid, sizeof(pid)))
		return;
	a->tracer.pid = (pid_t)strtol(pid, NULL, 10);
	if (a->tracer.pid)
		asleep_comm(a->tracer.pid, a->tracer.comm);
}

bool asleep_look(struct asleep *a)
{
	struct thread_call call;
	enum thread_state state = thread_call_read(a->pid, a->tid, &call);

	if (state == THREAD_GONE)
		return false;
	if (!a->looks++) {
		asleep_comm(a->pid, a->comm);
		note_tracer(a);
	}
	if (state == THREAD_RUNS) {
		a->running++;
	} else {
		count(a, (int)call.nr, thread_call_polls_nothing(&call));
		note_path(a, &call);
		if (!note_file(a, &call))
			note_fd(a, &call);
	}
	a->disk += is_uninterruptible(a);
	return true;
}

static int by_found(const void *x, const void *y)
{
	const struct asleep_call *a = x, *b = y;

	return (a->found < b->found) - (a->found > b->found);
}

void asleep_sort(struct asleep *a)
{
	qsort(a->v, a->n, sizeof(a->v[0]), by_found);
}
