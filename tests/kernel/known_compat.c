// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of a 32-bit program, made by a 64-bit one: `int $0x80` takes the other table's numbers,
 * and its arguments in other registers (entry_INT80_compat). What a tracer reads out of a sleeping
 * thread's registers is a 32-bit program's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "known.h"

#define COMPAT_READ	  3
#define COMPAT_WRITE	  4
#define COMPAT_SOCKETCALL 102
#define CALL_SEND	  9 /* of socketcall() */
#define CALL_RECV	  10
#define LOW_SIZE	  (1 << 20)
#define WORDS		  16 /* in front of the data: what socketcall() reads its arguments from */

static long compat; /* 1: read() and write(), 2: recv() and send() as glibc of i386 makes them */

#ifdef __x86_64__
static long call32(long number, long a, long b, long c)
{
	long r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "0"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)r;
}

/* a kernel without 32-bit calls ends who tries one */
static bool calls32_work(void)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(call32(COMPAT_WRITE, -1, 0, 0) != -EBADF);
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* a 32-bit call reaches the low 4 GiB only */
static char *low_memory(void)
{
	static __thread char *low;

	if (low)
		return low;
	low = mmap(NULL, LOW_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT | MAP_POPULATE, -1, 0);
	if (low == MAP_FAILED)
		die("mmap");
	return low;
}

static size_t low_part(size_t len)
{
	return len < LOW_SIZE - WORDS ? len : LOW_SIZE - WORDS;
}

static char *low_data(void)
{
	return low_memory() + WORDS;
}

static long moved32(long number, long socket_call, int fd, size_t len)
{
	unsigned int args[4] = { fd, (unsigned int)(long)low_data(), len, 0 };

	if (compat == 1)
		return call32(number, fd, (long)low_data(), len);
	memcpy(low_memory(), args, sizeof(args));
	return call32(COMPAT_SOCKETCALL, socket_call, (long)low_memory(), 0);
}

static ssize_t result(long r)
{
	if (r >= 0)
		return r;
	errno = -r;
	return -1;
}

static ssize_t read32(int fd, void *buf, size_t len)
{
	ssize_t n = result(moved32(COMPAT_READ, CALL_RECV, fd, low_part(len)));

	if (n > 0)
		memcpy(buf, low_data(), n);
	return n;
}

static ssize_t write32(int fd, const void *buf, size_t len)
{
	len = low_part(len);
	memcpy(low_data(), buf, len);
	return result(moved32(COMPAT_WRITE, CALL_SEND, fd, len));
}
#else
static bool calls32_work(void)
{
	return false;
}

static ssize_t read32(int fd, void *buf, size_t len)
{
	return read(fd, buf, len);
}

static ssize_t write32(int fd, const void *buf, size_t len)
{
	return write(fd, buf, len);
}
#endif

void choose_calls(struct known *k)
{
	compat = param(k, "compat", 0);
	if (compat && !calls32_work())
		skip("this kernel has no 32-bit calls");
}

ssize_t call_read(int fd, void *buf, size_t len)
{
	return compat ? read32(fd, buf, len) : read(fd, buf, len);
}

ssize_t call_write(int fd, const void *buf, size_t len)
{
	return compat ? write32(fd, buf, len) : write(fd, buf, len);
}
