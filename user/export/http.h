/* SPDX-License-Identifier: GPL-2.0-only */
/* As much of HTTP/1.1 as a scraper needs: GET and HEAD, one request a connection, everything
 * bounded in size, number and time. One thread, which no client can block. */
#ifndef IPCSTALL_EXPORT_HTTP_H
#define IPCSTALL_EXPORT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	HTTP_HEAD_MAX = 4096,	/* of a request */
	/* at once; a further client takes the place of the oldest, or gets 503 */
	HTTP_CLIENTS = 64,
	/* a connection keeps its place for at least this long: a scraper asks at once */
	HTTP_PLACE_MS = 200,
	HTTP_REST_MS = 200,	/* pause of the listener if accept() fails: out of descriptors */
	/* from the connection to the end of its request, however it trickles */
	HTTP_REQUEST_MS = 5000,
	HTTP_REPLY_MS = 10000,	/* for taking the whole answer */
	HTTP_DRAIN_MS = 1000,	/* for the client to close after it */
};

struct http_request {
	bool head;	  /* HEAD, not GET */
	bool openmetrics; /* the client takes application/openmetrics-text */
	char path[256];	  /* without the query */
};

struct http_reply {
	int status;
	const char *type;
	const char *body; /* copied before the handler is called again */
	size_t n;
};

typedef void http_handler(void *ctx, const struct http_request *q, struct http_reply *r);

/* Is there a whole request in buf? 0: not yet. 200: yes, and it is one to be answered: *q. Else the
 * status to refuse it with: 400, 405, 431, 505. */
int http_parse(const char *buf, size_t n, struct http_request *q);

struct http_server;
/* where: "127.0.0.1:19435", "[::1]:19435", "0.0.0.0:19435" (every address). NULL: see *e. */
struct http_server *http_listen(const char *where, struct err *e);
void http_close(struct http_server *s);

/* Serve until `until_ns` (CLOCK_MONOTONIC) or a signal. */
void http_serve(struct http_server *s, uint64_t until_ns, http_handler *handle, void *ctx);
/* How many requests were refused or given up. */
uint64_t http_refused(const struct http_server *s);

#endif
