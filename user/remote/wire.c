// SPDX-License-Identifier: GPL-2.0-only
#include "remote/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "json/json_text.h"
#include "base/clock.h"
#include "base/text.h"

int wire_prepare(int fd, struct err *e)
{
	const struct {
		int level, opt, value;
	} rows[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },   { SOL_SOCKET, SO_KEEPALIVE,
			1 },	 { IPPROTO_TCP, TCP_KEEPIDLE, 3 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 2 }, { IPPROTO_TCP, TCP_KEEPCNT, 3 }, { IPPROTO_TCP,
			TCP_USER_TIMEOUT, 9000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		setsockopt(fd, rows[i].level, rows[i].opt, &rows[i].value, sizeof(rows[i].value));
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return 0;
	return err_sys(e, EXIT_NO_RESOURCE, NULL, "control connection");
}

static int gone(const char *what, struct err *e)
{
	return err_peer(e, "the other host: %s; read its messages there, and run again", what);
}

/* 0: may go on; -1: the deadline has passed. */
static int wait_for(int fd, short events, uint64_t deadline, struct err *e)
{
	struct pollfd p = { fd, events, 0 };
	uint64_t now = now_ns();
	int ms = now < deadline ? (int)((deadline - now) / 1000000 < 3600000
						? (deadline - now) / 1000000 + 1
						: 3600000)
				: 0;

	if (poll(&p, 1, ms) > 0 || now_ns() < deadline)
		return 0;
	return gone("no answer in time", e);
}

static int send_all(int fd, const char *p, size_t n, uint64_t deadline, struct err *e)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k < 0 && errno != EAGAIN && errno != EINTR)
			return gone(strerror(errno), e);
		if (k < 0 && wait_for(fd, POLLOUT, deadline, e))
			return -1;
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

int wire_send(int fd, json_t *msg, uint64_t deadline, struct err *e)
{
	size_t n = msg ? json_dumpb(msg, NULL, 0, JSON_COMPACT) : 0;
	char *frame = n && n <= WIRE_MAX ? malloc(n + sizeof(uint32_t)) : NULL;
	uint32_t length = htonl((uint32_t)n);
	int rc;

	if (frame)
		json_dumpb(msg, frame + sizeof(length), n, JSON_COMPACT);
	json_decref(msg);
	if (!frame)
		return err_resource(e,
				    "control message of %zu bytes: more than %d or than there is "
				    "memory; give fewer options",
				    n, WIRE_MAX);
	memcpy(frame, &length, sizeof(length));
	rc = send_all(fd, frame, n + sizeof(length), deadline, e);
	free(frame);
	return rc;
}

static int recv_all(int fd, char *p, size_t n, uint64_t deadline, struct err *e)
{
	while (n) {
		ssize_t k = recv(fd, p, n, 0);

		if (k == 0)
			return gone("it closed the connection", e);
		if (k < 0 && errno != EAGAIN && errno != EINTR)
			return gone(strerror(errno), e);
		/* Also after bytes came: a sender of single bytes must not outlive the deadline. */
		if ((k < 0 || now_ns() > deadline) && wait_for(fd, POLLIN, deadline, e))
			return -1;
		if (k > 0 && now_ns() > deadline)
			return gone("too slow", e);
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

json_t *wire_recv(int fd, size_t max, uint64_t deadline, struct err *e)
{
	json_error_t why;
	uint32_t length;
	json_t *msg;
	char *text;

	if (recv_all(fd, (char *)&length, sizeof(length), deadline, e))
		return NULL;
	length = ntohl(length);
	if (length < 2 || length > max) {
		err_version(e,
			    "the other host: a message of %u bytes; it is not ipcstall, or has "
			    "another version",
			    length);
		return NULL;
	}
	text = malloc(length);
	if (!text) {
		err_resource(e, "control message: out of memory");
		return NULL;
	}
	msg = recv_all(fd, text, length, deadline, e)
		      ? NULL
		      : text_clean_json(json_loadb(text, length, JSON_REJECT_DUPLICATES, &why));
	free(text);
	if (json_is_object(msg))
		return msg;
	json_decref(msg);
	err_version(
		e,
		"the other host: unexpected messages; it is not ipcstall, or has another version");
	return NULL;
}

int wire_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *out,
	     struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
		return err_version(e,
				   "the other host: '%s' missing or out of range; use the same "
				   "version at both ends",
				   key);
	*out = json_integer_value(v);
	return 0;
}

void wire_text(const json_t *o, const char *key, char *out, size_t size)
{
	snprintf(out, size, "%s", wire_string(o, key));
	text_clean(out, size);
}
