// SPDX-License-Identifier: GPL-2.0-only
#include "try/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "base/text.h"

#ifndef SO_BUF_LOCK /* since Linux 5.14 */
#define SO_BUF_LOCK 72
#endif
#define LOCK_SNDBUF 1 /* SOCK_SNDBUF_LOCK and its sibling, <linux/socket.h> */
#define LOCK_RCVBUF 2

#define ROOMY	  (8 << 20)
#define PIPE_ROOM (1 << 20)
#define LOWAT	  (128 << 10)
#define CC_LIST	  "/proc/sys/net/ipv4/tcp_available_congestion_control"

static int get_int(int fd, int level, int opt, int64_t *out)
{
	int v = 0;
	socklen_t len = sizeof(v);

	if (getsockopt(fd, level, opt, &v, &len))
		return -errno;
	*out = v;
	return 0;
}

static int put_int(int fd, int level, int opt, int64_t value)
{
	int v = (int)value;

	return setsockopt(fd, level, opt, &v, sizeof(v)) ? -errno : 0;
}

/* The functions of a setting, each as one expression of fd and was. */
#define READS(name, how) \
	static int name##_read(int fd, struct saved *was) \
	{ \
		return how; \
	}
#define SETS(name, how) \
	static int name##_set(int fd, const struct saved *was) \
	{ \
		return how; \
	}
#define UNDOES(name, how) \
	static int name##_undo(int fd, const struct saved *was) \
	{ \
		return how; \
	}
#define CHANGES(name, what) \
	static bool name##_changes(const struct saved *was) \
	{ \
		return what; \
	}

/* --- options with a numeric value, which setting it again puts back --------------------------- */

#define NUMBER(name, level, opt, wanted) \
	READS(name, get_int(fd, level, opt, &was->value)) \
	SETS(name, put_int(fd, level, opt, wanted)) \
	UNDOES(name, put_int(fd, level, opt, was->value))

NUMBER(nodelay, IPPROTO_TCP, TCP_NODELAY, 1)
CHANGES(nodelay, was->value != 1)
NUMBER(uncork, IPPROTO_TCP, TCP_CORK, 0)
CHANGES(uncork, was->value != 0)
NUMBER(lowat, IPPROTO_TCP, TCP_NOTSENT_LOWAT, LOWAT)
CHANGES(lowat, was->value != LOWAT)

/* getsockopt() returns whether the connection is interactive at the moment: TCP_QUICKACK may read
 * as on, and as off a message later (tcp_enter_quickack_mode(), inet_csk_enter_pingpong_mode()). */
NUMBER(quickack, IPPROTO_TCP, TCP_QUICKACK, 1)
CHANGES(quickack, true)

/* --- SO_MAX_PACING_RATE: 64 bits since Linux 4.20; all ones is no limit ----------------------- */

static int pacing_read(int fd, struct saved *was)
{
	socklen_t len = sizeof(was->value);

	return getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &was->value, &len) ? -errno : 0;
}

static int pacing_put(int fd, int64_t rate)
{
	return setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) ? -errno : 0;
}

SETS(pacing, pacing_put(fd, -1))
UNDOES(pacing, pacing_put(fd, was->value))
CHANGES(pacing, was->value != -1)

/* --- TCP_CONGESTION --------------------------------------------------------------------------- */

static int cc_read(int fd, struct saved *was)
{
	socklen_t len = sizeof(was->text) - 1;

	return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, was->text, &len) ? -errno : 0;
}

/* The other one of the two common congestion controls. */
static const char *other_cc(const struct saved *was)
{
	return strcmp(was->text, "cubic") ? "cubic" : "bbr";
}

static int cc_put(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) ? -errno
											  : 0;
}

SETS(cc, cc_put(fd, other_cc(was)))
UNDOES(cc, cc_put(fd, was->text))

static bool cc_changes(const struct saved *was)
{
	char all[256];

	return text_first_line(CC_LIST, all, sizeof(all)) && text_has_word(all, other_cc(was));
}

/* --- buffers: their size, and whether a program has locked it --------------------------------- */

static int buffer_read(int fd, int opt, struct saved *was)
{
	int64_t locks = -1;
	int err = get_int(fd, SOL_SOCKET, opt, &was->value);

	if (!err && get_int(fd, SOL_SOCKET, SO_BUF_LOCK, &locks))
		locks = -1;
	was->locks = (int)locks;
	return err;
}

/* The kernel doubles the given value. Root may exceed the sysctl limit (*BUFFORCE), which is needed
 * if autotuning had exceeded it. */
static int buffer_undo(int fd, int opt, int force, const struct saved *was)
{
	int err = put_int(fd, SOL_SOCKET, force, was->value / 2);

	if (err == -EPERM)
		err = put_int(fd, SOL_SOCKET, opt, was->value / 2);
	if (!err && was->locks >= 0)
		err = put_int(fd, SOL_SOCKET, SO_BUF_LOCK, was->locks);
	return err;
}

/* Whether SO_SNDBUF or SO_RCVBUF can give more room: their limit is twice the sysctl. */
static bool more_room(const char *sysctl, const struct saved *was)
{
	uint64_t most = 0;

	text_u64(sysctl, &most);
	return was->locks >= 0 && was->value < 2 * (int64_t)(most < ROOMY ? most : ROOMY);
}

static int unlock(int fd, const struct saved *was, int lock)
{
	return was->locks < 0 ? -EOPNOTSUPP
			      : put_int(fd, SOL_SOCKET, SO_BUF_LOCK, was->locks & ~lock);
}

#define BUFFER(name, opt, force, sysctl, lock) \
	READS(name, buffer_read(fd, opt, was)) \
	SETS(name, put_int(fd, SOL_SOCKET, opt, ROOMY)) \
	UNDOES(name, buffer_undo(fd, opt, force, was)) \
	CHANGES(name, more_room("/proc/sys/net/core/" sysctl, was)) \
	SETS(name##_auto, unlock(fd, was, lock)) \
	CHANGES(name##_auto, was->locks > 0 && was->locks & (lock))

BUFFER(sndbuf, SO_SNDBUF, SO_SNDBUFFORCE, "wmem_max", LOCK_SNDBUF)
BUFFER(rcvbuf, SO_RCVBUF, SO_RCVBUFFORCE, "rmem_max", LOCK_RCVBUF)

/* --- pipes ------------------------------------------------------------------------------------ */

static int pipe_put(int fd, int64_t size)
{
	return fcntl(fd, F_SETPIPE_SZ, (int)size) < 0 ? -errno : 0;
}

static int pipe_read(int fd, struct saved *was)
{
	int size = fcntl(fd, F_GETPIPE_SZ);

	was->value = size;
	return size < 0 ? -errno : 0;
}

SETS(pipe, pipe_put(fd, PIPE_ROOM))
CHANGES(pipe, was->value < PIPE_ROOM)

/* -EBUSY: the pipe holds more than would fit. It is halved as often as possible, so that its reader
 * can empty it in the end; the caller tries again for the rest. */
static int pipe_undo(int fd, const struct saved *was)
{
	int err = pipe_put(fd, was->value);

	for (int64_t size = fcntl(fd, F_GETPIPE_SZ); err == -EBUSY && size / 2 > was->value;) {
		size /= 2;
		if (pipe_put(fd, size))
			break;
		err = pipe_put(fd, was->value);
	}
	return err;
}

enum { EMPTY_SAMPLES = 400 }; /* half a millisecond apart */

/* Whether the pipe is empty at times: then its reader empties a larger pipe too. */
static bool pipe_undoable(int fd)
{
	int held = 1;

	for (int i = 0; i < EMPTY_SAMPLES && held; i++) {
		if (ioctl(fd, FIONREAD, &held))
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
	return !held;
}

#define ROW(name, said, fn, ...) \
	{ \
		name, said, fn##_read, fn##_set, fn##_undo, fn##_changes, __VA_ARGS__ \
	}

static const struct setting settings[] = {
	ROW("nodelay", "TCP_NODELAY", nodelay),
	ROW("uncork", "TCP_CORK off", uncork),
	ROW("quickack", "TCP_QUICKACK", quickack, .kept_up = true),
	ROW("no-pacing", "SO_MAX_PACING_RATE without a limit", pacing),
	ROW("notsent-lowat", "TCP_NOTSENT_LOWAT of 128 KiB", lowat),
	ROW("cc", "another TCP_CONGESTION", cc,
	    .not_undone = "the old congestion control starts over when it is restored: its state "
			  "about the path is lost"),
	{ "sndbuf-auto", "SO_SNDBUF left to the kernel", sndbuf_read, sndbuf_auto_set, sndbuf_undo,
	  sndbuf_auto_changes },
	{ "rcvbuf-auto", "SO_RCVBUF left to the kernel", rcvbuf_read, rcvbuf_auto_set, rcvbuf_undo,
	  rcvbuf_auto_changes },
	ROW("sndbuf", "SO_SNDBUF of 8 MiB, or what net.core.wmem_max allows", sndbuf),
	ROW("rcvbuf", "SO_RCVBUF of 8 MiB, or what net.core.rmem_max allows", rcvbuf),
	ROW("pipe-size", "F_SETPIPE_SZ of 1 MiB", pipe,
	    .not_undone = "the writer keeps the pipe full, so it could not be shrunk again",
	    .undoable = pipe_undoable),
};

const struct setting *setting_at(size_t i)
{
	return i < sizeof(settings) / sizeof(settings[0]) ? &settings[i] : NULL;
}

const struct setting *setting_find(const char *name)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

void saved_text(const struct setting *s, const struct saved *was, char *buf, size_t len)
{
	if (was->text[0])
		snprintf(buf, len, "%s", was->text);
	else if (s->read == pacing_read && was->value == -1)
		snprintf(buf, len, "no limit");
	else
		snprintf(buf, len, "%lld%s", (long long)was->value,
			 was->locks > 0 ? " (set by the program)" : "");
}
