/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a system call does with descriptors: one row each, made into a table by number, since the rawtp backend asks at every
 * system call of the machine.
 *
 *	ROW(name, number on x86-64, number on arm64, enum syscall_bits), OLD_ROW(name, number, bits): only on x86-64
 */
#ifndef IPCSTALL_SYSCALLS_H
#define IPCSTALL_SYSCALLS_H

enum syscall_bits {
	SYS_OUT = 1 << 0,	/* writes to its first argument */
	SYS_IN = 1 << 1,	/* reads from it; with SYS_OUT: from the first to the third, splice() */
	SYS_ONE = 1 << 2,	/* is one call on an endpoint, with the same result */
	SYS_SOCKETS = 1 << 3,	/* no pipe can be given to it */
	SYS_WAIT = 1 << 4,	/* a thread sleeps in it, on no endpoint */
	SYS_CLOSE = 1 << 5,
	SYS_MADE = 3 << 6,	/* enum made, of the descriptors that it makes */
	SYS_POLLS = 1 << 8,	/* its first two arguments are an array of struct pollfd */
	SYS_SELECTS = 1 << 9,	/* its third is a set of descriptors to be written to */
	SYS_LENGTH = 1 << 10,	/* its third says how many bytes it was given */
};

/* the result is one, or two stand where an argument points */
enum made { MADE_NONE, MADE_ONE, MADE_PAIR_FIRST, MADE_PAIR_FOURTH };

#define MADE_SHIFT 6

#define SYSCALL_ROWS(ROW, OLD_ROW)						\
	ROW(read, 0, 63, SYS_IN | SYS_ONE)					\
	ROW(write, 1, 64, SYS_OUT | SYS_ONE | SYS_LENGTH)				\
	ROW(readv, 19, 65, SYS_IN | SYS_ONE)					\
	ROW(writev, 20, 66, SYS_OUT | SYS_ONE)					\
	ROW(pread64, 17, 67, SYS_IN)						\
	ROW(pwrite64, 18, 68, SYS_OUT | SYS_LENGTH)					\
	ROW(preadv, 295, 69, SYS_IN)						\
	ROW(pwritev, 296, 70, SYS_OUT)						\
	ROW(preadv2, 327, 286, SYS_IN)						\
	ROW(pwritev2, 328, 287, SYS_OUT)					\
	ROW(sendfile, 40, 71, SYS_OUT)						\
	ROW(vmsplice, 278, 75, SYS_OUT)						\
	ROW(splice, 275, 76, SYS_IN | SYS_OUT)					\
	ROW(sendto, 44, 206, SYS_OUT | SYS_ONE | SYS_SOCKETS | SYS_LENGTH)		\
	ROW(recvfrom, 45, 207, SYS_IN | SYS_ONE | SYS_SOCKETS)			\
	ROW(sendmsg, 46, 211, SYS_OUT | SYS_ONE | SYS_SOCKETS)			\
	ROW(recvmsg, 47, 212, SYS_IN | SYS_ONE | SYS_SOCKETS)			\
	ROW(sendmmsg, 307, 269, SYS_OUT | SYS_SOCKETS)				\
	ROW(recvmmsg, 299, 243, SYS_IN | SYS_SOCKETS)				\
	ROW(close, 3, 57, SYS_CLOSE)						\
	ROW(socket, 41, 198, MADE_ONE << MADE_SHIFT)				\
	ROW(accept, 43, 202, MADE_ONE << MADE_SHIFT)				\
	ROW(accept4, 288, 242, MADE_ONE << MADE_SHIFT)				\
	ROW(socketpair, 53, 199, MADE_PAIR_FOURTH << MADE_SHIFT)		\
	ROW(pipe2, 293, 59, MADE_PAIR_FIRST << MADE_SHIFT)			\
	OLD_ROW(pipe, 22, MADE_PAIR_FIRST << MADE_SHIFT)			\
	OLD_ROW(poll, 7, SYS_WAIT | SYS_POLLS)					\
	OLD_ROW(select, 23, SYS_WAIT | SYS_SELECTS)				\
	OLD_ROW(epoll_wait, 232, SYS_WAIT)					\
	ROW(ppoll, 271, 73, SYS_WAIT | SYS_POLLS)				\
	ROW(pselect6, 270, 72, SYS_WAIT | SYS_SELECTS)				\
	ROW(epoll_pwait, 281, 22, SYS_WAIT)					\
	ROW(epoll_pwait2, 441, 441, SYS_WAIT)					\
	ROW(nanosleep, 35, 101, SYS_WAIT)					\
	ROW(clock_nanosleep, 230, 115, SYS_WAIT)				\
	ROW(futex, 202, 98, SYS_WAIT)

#define SYSCALLS 512

#if defined(__TARGET_ARCH_x86)
#define SYSCALL_BITS(name, x86, arm64, bits) [x86] = (bits),
#define SYSCALL_OLD(name, x86, bits) [x86] = (bits),
#else
#define SYSCALL_BITS(name, x86, arm64, bits) [arm64] = (bits),
#define SYSCALL_OLD(name, x86, bits)
#endif

static const unsigned short bits_of_syscall[SYSCALLS] = { SYSCALL_ROWS(SYSCALL_BITS, SYSCALL_OLD) };

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
