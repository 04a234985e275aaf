/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each system call does with descriptors, one row each. The rows are made into a table by
 * number, since the rawtp backend asks at every system call of the machine.
 *
 *	ROW(name, number on x86-64, on arm64, in 32-bit programs on x86, enum syscall_bits)
 *
 * OLD_ROW: without arm64's number; ROW_64: without the 32-bit programs'; ROW_32: with theirs alone.
 */
#ifndef IPCSTALL_SYSCALLS_H
#define IPCSTALL_SYSCALLS_H

enum syscall_bits {
	SYS_OUT = 1 << 0,	/* writes to its first argument */
	/* reads from its first argument; with SYS_OUT: splice(), to the third */
	SYS_IN = 1 << 1,
	SYS_ONE = 1 << 2,	/* is one call on an endpoint, with the same result */
	SYS_SOCKETS = 1 << 3,	/* no pipe can be given to it */
	SYS_WAIT = 1 << 4,	/* a thread sleeps in it, on no endpoint */
	SYS_CLOSE = 1 << 5,	/* may close the file of its first argument */
	SYS_MADE = 3 << 6,	/* enum made, of the descriptors that it makes */
	SYS_POLLS = 1 << 8,	/* its first two arguments are an array of struct pollfd */
	SYS_SELECTS = 1 << 9,	/* its second and third are the sets to read from and write to */
	SYS_LENGTH = 1 << 10,	/* its third argument says how many bytes it was given */
	/* socketcall(): its first argument says which call, its second where the arguments are */
	SYS_SOCKETCALL = 1 << 11,
	/* writes; reads if its first argument is open for reading only */
	SYS_EITHER = 1 << 12,
	SYS_SECOND = 1 << 13,	/* with SYS_CLOSE: closes its second argument instead */
	SYS_RANGE = 1 << 14,	/* with SYS_CLOSE: closes from its first to its second */
	SYS_EXEC = 1 << 15,	/* with SYS_CLOSE: closes all close-on-exec descriptors */
	SYS_COUNT = 1 << 16,	/* its fourth argument says how many bytes it was given */
	SYS_PASSES = 1 << 17,	/* it may pass descriptors to another process */
};

/* the new descriptor is the result, or two stand where an argument points */
enum made { MADE_NONE, MADE_ONE, MADE_PAIR_FIRST, MADE_PAIR_FOURTH };

#define MADE_SHIFT 6

#define SYSCALL_ROWS(ROW, OLD_ROW, ROW_64, ROW_32) \
	ROW(read, 0, 63, 3, SYS_IN | SYS_ONE) \
	ROW(write, 1, 64, 4, SYS_OUT | SYS_ONE | SYS_LENGTH) \
	ROW(readv, 19, 65, 145, SYS_IN | SYS_ONE) \
	ROW(writev, 20, 66, 146, SYS_OUT | SYS_ONE) \
	ROW(pread64, 17, 67, 180, SYS_IN) \
	ROW(pwrite64, 18, 68, 181, SYS_OUT | SYS_LENGTH) \
	ROW(preadv, 295, 69, 333, SYS_IN) \
	ROW(pwritev, 296, 70, 334, SYS_OUT) \
	ROW(preadv2, 327, 286, 378, SYS_IN) \
	ROW(pwritev2, 328, 287, 379, SYS_OUT) \
	ROW(sendfile, 40, 71, 187, SYS_OUT | SYS_COUNT) \
	ROW(vmsplice, 278, 75, 316, SYS_OUT | SYS_EITHER) \
	ROW(splice, 275, 76, 313, SYS_IN | SYS_OUT) \
	ROW(sendto, 44, 206, 369, SYS_OUT | SYS_ONE | SYS_SOCKETS | SYS_LENGTH) \
	ROW(recvfrom, 45, 207, 371, SYS_IN | SYS_ONE | SYS_SOCKETS) \
	ROW(sendmsg, 46, 211, 370, SYS_OUT | SYS_ONE | SYS_SOCKETS | SYS_PASSES) \
	ROW(recvmsg, 47, 212, 372, SYS_IN | SYS_ONE | SYS_SOCKETS) \
	ROW(sendmmsg, 307, 269, 345, SYS_OUT | SYS_SOCKETS | SYS_PASSES) \
	ROW(recvmmsg, 299, 243, 337, SYS_IN | SYS_SOCKETS) \
	ROW(close, 3, 57, 6, SYS_CLOSE) \
	ROW(close_range, 436, 436, 436, SYS_CLOSE | SYS_RANGE) \
	OLD_ROW(dup2, 33, 63, SYS_CLOSE | SYS_SECOND) \
	ROW(dup3, 292, 24, 330, SYS_CLOSE | SYS_SECOND) \
	ROW(execve, 59, 221, 11, SYS_CLOSE | SYS_EXEC) \
	ROW(execveat, 322, 281, 358, SYS_CLOSE | SYS_EXEC) \
	ROW(socket, 41, 198, 359, MADE_ONE << MADE_SHIFT) \
	ROW_64(accept, 43, 202, MADE_ONE << MADE_SHIFT) \
	ROW(accept4, 288, 242, 364, MADE_ONE << MADE_SHIFT) \
	ROW(socketpair, 53, 199, 360, MADE_PAIR_FOURTH << MADE_SHIFT) \
	ROW(pipe2, 293, 59, 331, MADE_PAIR_FIRST << MADE_SHIFT) \
	OLD_ROW(pipe, 22, 42, MADE_PAIR_FIRST << MADE_SHIFT) \
	OLD_ROW(poll, 7, 168, SYS_WAIT | SYS_POLLS) \
	OLD_ROW(select, 23, 142, SYS_WAIT | SYS_SELECTS) \
	OLD_ROW(epoll_wait, 232, 256, SYS_WAIT) \
	ROW(ppoll, 271, 73, 309, SYS_WAIT | SYS_POLLS) \
	ROW(pselect6, 270, 72, 308, SYS_WAIT | SYS_SELECTS) \
	ROW(epoll_pwait, 281, 22, 319, SYS_WAIT) \
	ROW(epoll_pwait2, 441, 441, 441, SYS_WAIT) \
	ROW(nanosleep, 35, 101, 162, SYS_WAIT) \
	ROW(clock_nanosleep, 230, 115, 267, SYS_WAIT) \
	ROW(futex, 202, 98, 240, SYS_WAIT) \
	ROW_32(sendfile64, 239, SYS_OUT | SYS_COUNT) \
	ROW_32(socketcall, 102, SYS_SOCKETCALL) \
	ROW_32(recvmmsg_time64, 417, SYS_IN | SYS_SOCKETS) \
	ROW_32(ppoll_time64, 414, SYS_WAIT | SYS_POLLS) \
	ROW_32(pselect6_time64, 413, SYS_WAIT | SYS_SELECTS) \
	ROW_32(clock_nanosleep_time64, 407, SYS_WAIT) \
	ROW_32(futex_time64, 422, SYS_WAIT)

#define SYSCALLS 512

#define NO_ROW(...)

#if defined(__TARGET_ARCH_x86)
#define BITS_X86(name, x86, arm64, x32, bits) [x86] = (bits),
#define BITS_OLD(name, x86, x32, bits)	      [x86] = (bits),
#define BITS_64(name, x86, arm64, bits)	      [x86] = (bits),
#define BITS_32(name, x86, arm64, x32, bits)  [x32] = (bits),
#define BITS_OLD_32(name, x86, x32, bits)     [x32] = (bits),
#define BITS_ONLY_32(name, x32, bits)	      [x32] = (bits),

static const unsigned int bits_of_syscall[SYSCALLS] = { SYSCALL_ROWS(BITS_X86, BITS_OLD, BITS_64,
	NO_ROW) };
static const unsigned int bits_of_syscall_32[SYSCALLS] = { SYSCALL_ROWS(BITS_32, BITS_OLD_32,
	NO_ROW, BITS_ONLY_32) };

/* the calls of socketcall(), by SYS_* of linux/net.h; each argument is a word of 32 bits */
static const unsigned short bits_of_socketcall[32] = {
	[1] = MADE_ONE << MADE_SHIFT,						/* socket */
	[5] = MADE_ONE << MADE_SHIFT,						/* accept */
	[9] = SYS_OUT | SYS_ONE | SYS_SOCKETS | SYS_LENGTH,			/* send */
	[10] = SYS_IN | SYS_ONE | SYS_SOCKETS,					/* recv */
	[11] = SYS_OUT | SYS_ONE | SYS_SOCKETS | SYS_LENGTH,			/* sendto */
	[12] = SYS_IN | SYS_ONE | SYS_SOCKETS,					/* recvfrom */
	[16] = SYS_OUT | SYS_ONE | SYS_SOCKETS,					/* sendmsg */
	[17] = SYS_IN | SYS_ONE | SYS_SOCKETS,					/* recvmsg */
	[18] = MADE_ONE << MADE_SHIFT,						/* accept4 */
	[19] = SYS_IN | SYS_SOCKETS,						/* recvmmsg */
	[20] = SYS_OUT | SYS_SOCKETS,						/* sendmmsg */
};

static __always_inline unsigned int syscall_bits_32(unsigned long long nr)
{
	unsigned long long n = nr;

	BOUND(n, 511);
	return nr < SYSCALLS ? bits_of_syscall_32[n] : 0;
}

static __always_inline unsigned int socketcall_bits(unsigned long long nr)
{
	unsigned long long n = nr;

	BOUND(n, 31);
	return nr < 32 ? bits_of_socketcall[n] : 0;
}
#else
#define BITS_ARM64(name, x86, arm64, x32, bits) [arm64] = (bits),
#define BITS_64(name, x86, arm64, bits)		[arm64] = (bits),

static const unsigned int bits_of_syscall[SYSCALLS] = { SYSCALL_ROWS(BITS_ARM64, NO_ROW, BITS_64,
	NO_ROW) };

static __always_inline unsigned int syscall_bits_32(unsigned long long nr)
{
	return 0;
}
#endif

static __always_inline unsigned int syscall_bits(unsigned long long nr)
{
	unsigned long long n = nr;

	BOUND(n, 511);
	return nr < SYSCALLS ? bits_of_syscall[n] : 0;
}

static __always_inline enum dir syscall_dir(unsigned int bits)
{
	return bits & SYS_IN ? DIR_RX : DIR_TX;
}

static __always_inline bool syscall_moves(unsigned int bits)
{
	return bits & (SYS_IN | SYS_OUT);
}

static __always_inline bool syscall_splices(unsigned int bits)
{
	return (bits & (SYS_IN | SYS_OUT)) == (SYS_IN | SYS_OUT);
}

static __always_inline enum made syscall_makes(unsigned int bits)
{
	return (bits & SYS_MADE) >> MADE_SHIFT;
}

#endif
