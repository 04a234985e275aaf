// SPDX-License-Identifier: GPL-2.0-only
#include "export/http.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum phase { FREE, READING, WRITING, DRAINING };

struct client {
	enum phase phase;
	int fd;
	uint64_t since_ns, deadline_ns;
	char in[HTTP_HEAD_MAX];
	size_t n_in;
	char *out;
	size_t n_out, sent;
};

struct http_server {
	int fd;
	struct client clients[HTTP_CLIENTS];
	uint64_t refused;
	uint64_t rests_until_ns; /* the listener: a failing accept() must not wake us without end */
};

/* ---- where to listen ---- */

/* "HOST:PORT" or "[HOST]:PORT" in two. There is no access control, so it listens on every
 * address only if told to: 0.0.0.0 or [::]. */
static int split(const char *where, char *host, size_t size, const char **port, struct err *e)
{
	const char *colon = strrchr(where, ':');
	size_t n = colon ? (size_t)(colon - where) : 0;
	bool bracket = n >= 2 && where[0] == '[' && where[n - 1] == ']';

	if (!n || !colon[1] || n == 2 * bracket || n >= size || (!bracket && memchr(where, ':', n)))
		return err_usage(e,
				 "--listen '%s': not ADDRESS:PORT; give, for example, "
				 "127.0.0.1:19435 or [::1]:19435",
				 where);
	snprintf(host, size, "%.*s", (int)(bracket ? n - 2 : n), where + bracket);
	*port = colon + 1;
	return 0;
}

static int resolve(const char *where, struct addrinfo **out, struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE |
		AI_NUMERICHOST | AI_NUMERICSERV };
	char host[128];
	const char *port = NULL;
	int rc;

	if (split(where, host, sizeof(host), &port, e))
		return -1;
	if (strspn(port, "0123456789") != strlen(port) || strlen(port) > 5 || atoi(port) < 1 ||
	    atoi(port) > 65535)
		return err_usage(e,
				 "--listen '%s': '%s' is not a port (1 to 65535); give a free one",
				 where, port);
	rc = getaddrinfo(host, port, &hints, out);
	if (rc)
		return err_usage(e, "--listen '%s': %s; give an address in numbers and a port",
				 where, gai_strerror(rc));
	return 0;
}

static int open_socket(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, HTTP_CLIENTS)) {
		close(fd);
		return -1;
	}
	return fd;
}

struct http_server *http_listen(const char *where, struct err *e)
{
	struct http_server *s = calloc(1, sizeof(*s));
	struct addrinfo *a;

	if (!s)
		err_resource(e, "--listen %s: no memory; free some and run again", where);
	if (!s || resolve(where, &a, e)) {
		free(s);
		return NULL;
	}
	s->fd = open_socket(a);
	freeaddrinfo(a);
	if (s->fd >= 0)
		return s;
	err_sys(e, EXIT_NO_RESOURCE, "choose another with --listen", "--listen %s", where);
	free(s);
	return NULL;
}

/* ---- one client ---- */

static uint64_t after_ms(int ms)
{
	return now_ns() + (uint64_t)ms * 1000000;
}

static void drop(struct client *c)
{
	close(c->fd);
	free(c->out);
	*c = (struct client){};
}

static const char *reason(int status)
{
	switch (status) {
	case 200: return "OK";
	case 400: return "Bad Request";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 408: return "Request Timeout";
	case 431: return "Request Header Fields Too Large";
	case 503: return "Service Unavailable";
	case 505: return "HTTP Version Not Supported";
	default: return "Internal Server Error";
	}
}

static void answer(struct client *c, const struct http_reply *r, bool head)
{
	char top[256];
	int n = snprintf(top, sizeof(top),
			 "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: "
			 "%zu\r\n%s%sConnection: close\r\n\r\n",
			 r->status, reason(r->status), r->type, r->n,
			 r->status == 405 ? "Allow: GET, HEAD\r\n" : "",
			 r->status == 503 ? "Retry-After: 1\r\n" : "");

	c->out = malloc((size_t)n + r->n);
	if (!c->out) {
		drop(c);
		return;
	}
	memcpy(c->out, top, (size_t)n);
	if (!head && r->n)
		memcpy(c->out + n, r->body, r->n);
	c->n_out = (size_t)n + (head ? 0 : r->n);
	c->sent = 0;
	c->phase = WRITING;
	c->deadline_ns = after_ms(HTTP_REPLY_MS);
}

static void refuse(struct http_server *s, struct client *c, int status)
{
	struct http_reply r = { .status = status, .type = "text/plain; charset=utf-8",
		.body = reason(status), .n = strlen(reason(status)) };

	s->refused++;
	answer(c, &r, false);
}

static void on_request(struct http_server *s, struct client *c, http_handler *handle, void *ctx)
{
	struct http_reply r = { .status = 500, .type = "text/plain; charset=utf-8", .body = "" };
	struct http_request q;
	int status = http_parse(c->in, c->n_in, &q);

	if (!status)
		return;
	if (status != 200) {
		refuse(s, c, status);
		return;
	}
	handle(ctx, &q, &r);
	s->refused += r.status != 200;
	answer(c, &r, q.head);
}

static void on_readable(struct http_server *s, struct client *c, http_handler *handle, void *ctx)
{
	char waste[4096];
	bool reading = c->phase == READING;
	ssize_t n = recv(c->fd, reading ? c->in + c->n_in : waste,
			 reading ? sizeof(c->in) - c->n_in : sizeof(waste), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		s->refused += c->phase == READING;
		drop(c);
	} else if (c->phase == READING) {
		c->n_in += (size_t)n;
		on_request(s, c, handle, ctx);
	}
}

/* After the answer, what the client still sends is read and discarded. Closing with unread data
 * would reset the connection and lose the answer. */
static void on_writable(struct http_server *s, struct client *c)
{
	ssize_t n = send(c->fd, c->out + c->sent, c->n_out - c->sent, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		s->refused++;
		drop(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent < c->n_out)
		return;
	shutdown(c->fd, SHUT_WR);
	c->phase = DRAINING;
	c->deadline_ns = after_ms(HTTP_DRAIN_MS);
}

static void on_deadline(struct http_server *s, struct client *c)
{
	if (c->phase == READING) {
		refuse(s, c, 408);
		return;
	}
	s->refused += c->phase == WRITING;
	drop(c);
}

/* ---- all of them ---- */

static struct client *free_client(struct http_server *s)
{
	for (int i = 0; i < HTTP_CLIENTS; i++)
		if (s->clients[i].phase == FREE)
			return &s->clients[i];
	return NULL;
}

/* The oldest client gives up its place: a scraper needs only milliseconds. NULL: even that one
 * is too recent. */
static struct client *oldest_client(struct http_server *s)
{
	struct client *c = &s->clients[0];

	for (int i = 1; i < HTTP_CLIENTS; i++)
		if (s->clients[i].since_ns < c->since_ns)
			c = &s->clients[i];
	if (now_ns() - c->since_ns < HTTP_PLACE_MS * 1000000ull)
		return NULL;
	s->refused += c->phase != DRAINING;
	drop(c);
	return c;
}

static struct client *place_for_client(struct http_server *s)
{
	struct client *c = free_client(s);

	return c ? c : oldest_client(s);
}

/* The kernel would queue connections that nobody answers, so this answers 503. */
static void turn_away(struct http_server *s, int fd)
{
	static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: "
				   "1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

	s->refused++;
	send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void on_connection(struct http_server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct client *c = fd < 0 ? NULL : place_for_client(s);

	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			s->rests_until_ns = after_ms(HTTP_REST_MS);
		return;
	}
	if (!c) {
		turn_away(s, fd);
		return;
	}
	c->fd = fd;
	c->phase = READING;
	c->since_ns = now_ns();
	c->deadline_ns = after_ms(HTTP_REQUEST_MS);
}

static bool rests(const struct http_server *s)
{
	return s->rests_until_ns > now_ns();
}

static uint64_t first_deadline(const struct http_server *s, uint64_t until)
{
	if (rests(s) && s->rests_until_ns < until)
		until = s->rests_until_ns;
	for (int i = 0; i < HTTP_CLIENTS; i++)
		if (s->clients[i].phase != FREE && s->clients[i].deadline_ns < until)
			until = s->clients[i].deadline_ns;
	return until;
}

/* The listener comes first, then only the clients in use: poll() takes no more entries than
 * descriptors may be open. */
static nfds_t gather(const struct http_server *s, struct pollfd *p, int *at)
{
	nfds_t n = 0;

	p[n++] = (struct pollfd){ .fd = rests(s) ? -1 : s->fd, .events = POLLIN };
	for (int i = 0; i < HTTP_CLIENTS; i++) {
		const struct client *c = &s->clients[i];

		at[i] = c->phase == FREE ? -1 : (int)n;
		if (c->phase != FREE)
			p[n++] =
				(struct pollfd){ .fd = c->fd,
						 .events = c->phase == WRITING ? POLLOUT : POLLIN };
	}
	return n;
}

static int wait_for(const struct http_server *s, struct pollfd *p, nfds_t n, uint64_t until)
{
	uint64_t now = now_ns(), end = first_deadline(s, until), left = end > now ? end - now : 0;
	struct timespec t = { .tv_sec = (time_t)(left / 1000000000),
		.tv_nsec = (long)(left % 1000000000) };

	return ppoll(p, n, &t, NULL);
}

static void serve_client(struct http_server *s, struct client *c, short events,
			 http_handler *handle, void *ctx)
{
	if (c->phase == FREE)
		return;
	if (events && c->phase == WRITING)
		on_writable(s, c);
	else if (events)
		on_readable(s, c, handle, ctx);
	if (c->phase != FREE && now_ns() >= c->deadline_ns)
		on_deadline(s, c);
}

void http_serve(struct http_server *s, uint64_t until_ns, http_handler *handle, void *ctx)
{
	struct pollfd p[HTTP_CLIENTS + 1];
	int at[HTTP_CLIENTS];

	while (now_ns() < until_ns) {
		int n = wait_for(s, p, gather(s, p, at), until_ns);

		if (n < 0 && errno == EINTR)
			return;
		for (int i = 0; i < HTTP_CLIENTS; i++)
			serve_client(s, &s->clients[i], n > 0 && at[i] >= 0 ? p[at[i]].revents : 0,
				     handle, ctx);
		if (n > 0 && p[0].revents)
			on_connection(s);
	}
}

uint64_t http_refused(const struct http_server *s)
{
	return s->refused;
}

void http_close(struct http_server *s)
{
	if (!s)
		return;
	for (int i = 0; i < HTTP_CLIENTS; i++)
		if (s->clients[i].phase != FREE)
			drop(&s->clients[i]);
	close(s->fd);
	free(s);
}
