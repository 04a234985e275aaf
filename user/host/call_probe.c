// SPDX-License-Identifier: GPL-2.0-only
#include "host/call_probe.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* One row: the raw entry and what libc makes of it. */
#define CALL(id, raw_expr, libc_expr) \
	static long raw_##id(int fd) { return (raw_expr); } \
	static long libc_##id(int fd) { return (libc_expr); }

static char byte;
static struct timespec ts;
static struct timeval tv;
static struct stat st;
static unsigned int cpu;

CALL(getpid, syscall(SYS_getpid), getpid())
CALL(getppid, syscall(SYS_getppid), getppid())
CALL(getuid, syscall(SYS_getuid), getuid())
CALL(gettid, syscall(SYS_gettid), gettid())
CALL(getpgid, syscall(SYS_getpgid, 0), getpgid(0))
CALL(getpriority, syscall(SYS_getpriority, PRIO_PROCESS, 0), getpriority(PRIO_PROCESS, 0))
CALL(getcpu, syscall(SYS_getcpu, &cpu, NULL, NULL), sched_getcpu())
CALL(clock_gettime, syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts),
     clock_gettime(CLOCK_MONOTONIC, &ts))
CALL(gettimeofday, syscall(SYS_gettimeofday, &tv, NULL), gettimeofday(&tv, NULL))
CALL(sched_yield, syscall(SYS_sched_yield), sched_yield())
CALL(close, syscall(SYS_close, -1), close(-1))
CALL(fstat, syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH), fstat(fd, &st))
CALL(read, syscall(SYS_read, fd, &byte, 1), read(fd, &byte, 1))
CALL(write, syscall(SYS_write, fd, &byte, 1), write(fd, &byte, 1))

#define ROW(id) \
	{ \
#id, raw_##id, libc_##id, NULL \
	}

const struct call_row call_rows[] = {
	ROW(getpid),
	ROW(getppid),
	ROW(getuid),
	ROW(gettid),
	ROW(getpgid),
	ROW(getpriority),
	ROW(getcpu),
	ROW(clock_gettime),
	ROW(gettimeofday),
	ROW(sched_yield),
	{ "close(-1)", raw_close, libc_close, NULL },
	{ "fstat(/dev/null)", raw_fstat, libc_fstat, "/dev/null" },
	{ "read(/dev/zero)", raw_read, libc_read, "/dev/zero" },
	{ "write(/dev/null)", raw_write, libc_write, "/dev/null" },
	{ NULL, NULL, NULL, NULL },
};

static void take_samples(long (*call)(int), int fd, double *samples, int n)
{
	for (int i = -n / 10; i < n; i++) { /* the first tenth warms up */
		uint64_t t0 = now_ns();

		for (int j = 0; j < CALL_BATCH; j++)
			call(fd);
		samples[i < 0 ? 0 : i] = (double)(now_ns() - t0) / CALL_BATCH;
	}
}

int call_measure(const struct call_row *row, bool raw, double *samples, int n, struct summary *out,
		 struct err *e)
{
	struct sample s = sample_f64(samples, (size_t)n);
	int fd = -1;

	if (row->path) {
		fd = open(row->path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return err_sys(e, EXIT_NO_RESOURCE, "is /dev mounted?", "%s", row->path);
	}
	take_samples(raw ? row->raw : row->libc, fd, samples, n);
	if (fd >= 0)
		close(fd);
	stats_sort_f64(samples, (size_t)n);
	stats_summarise(&s, out);
	return 0;
}

bool call_was_faked(const struct summary *raw, const struct summary *libc)
{
	return libc->median < 0.5 * raw->median;
}
