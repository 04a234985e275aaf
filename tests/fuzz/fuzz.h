/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fuzzers share: an input as a file or as another host's messages, and a claim that must
 * hold. */
#ifndef IPCSTALL_TESTS_FUZZ_H
#define IPCSTALL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define MUST(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #cond); \
			abort(); \
		} \
	} while (0)

/* An input as a file that only its owner may read; memory_file_close() when done. */
struct memory_file {
	int fd;
	char path[40];
};

static inline struct memory_file memory_file_open(const void *data, size_t size)
{
	struct memory_file m = { .fd = memfd_create("input", MFD_CLOEXEC) };

	MUST(m.fd >= 0 && fchmod(m.fd, 0600) == 0);
	MUST(write(m.fd, data, size) == (ssize_t)size);
	snprintf(m.path, sizeof(m.path), "/proc/self/fd/%d", m.fd);
	return m;
}

static inline void memory_file_close(struct memory_file *m)
{
	close(m->fd);
}

/* A refusal is one line, and has a code. */
static inline void must_be_refusal(const struct err *e)
{
	MUST(e->text[0] && !strchr(e->text, '\n'));
	MUST(e->code > EXIT_DONE && e->code != EXIT_BUG);
}

/* What a command prints goes nowhere. */
static inline void silence_stdout(void)
{
	MUST(freopen("/dev/null", "w", stdout));
}

/* --- another host's messages --- */
struct wire_pair {
	int here, there;
};

static inline void send_frame(int fd, const char *text, size_t n)
{
	uint8_t length[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
		(uint8_t)n };

	MUST(send(fd, length, sizeof(length), MSG_DONTWAIT) == sizeof(length));
	MUST(send(fd, text, n, MSG_DONTWAIT) == (ssize_t)n);
}

static inline void send_lines(int fd, const char *text, size_t n)
{
	while (n) {
		const char *end = memchr(text, '\n', n);
		size_t line = end ? (size_t)(end - text) : n;

		send_frame(fd, text, line);
		n -= line + (end != NULL);
		text += line + (end != NULL);
	}
}

/* All that the other host will ever say is there at once, so nobody waits: a line is a message, or,
 * `raw`, the bytes are what comes. */
static inline struct wire_pair wire_pair_open(const uint8_t *data, size_t size, int raw)
{
	int fd[2], room = 1 << 22;

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0);
	for (int i = 0; i < 2; i++)
		setsockopt(fd[i], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	if (raw)
		MUST(send(fd[1], data, size, MSG_DONTWAIT) == (ssize_t)size);
	else
		send_lines(fd[1], (const char *)data, size);
	shutdown(fd[1], SHUT_WR);
	return (struct wire_pair){ fd[0], fd[1] };
}

static inline void wire_pair_drain(int fd)
{
	static char waste[65536];

	while (recv(fd, waste, sizeof(waste), MSG_DONTWAIT) > 0)
		;
}

static inline void wire_pair_close(struct wire_pair *p)
{
	close(p->here);
	close(p->there);
}

#endif
