// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <strings.h>

#include "export/http.h"

/* a line of buf[0, n), without its end; *next: what follows. False: no whole line. */
static bool next_line(const char *buf, size_t n, size_t *len, size_t *next)
{
	const char *end = memchr(buf, '\n', n);

	if (!end)
		return false;
	*len = (size_t)(end - buf);
	*next = *len + 1;
	if (*len && buf[*len - 1] == '\r')
		(*len)--;
	return true;
}

static bool is_token(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"(),/:;<=>?@[\\]{}", s[i]))
			return false;
	return n > 0;
}

static bool word_is(const char *s, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(s, word, n);
}

static bool take_path(const char *s, size_t n, struct http_request *q)
{
	const char *query = memchr(s, '?', n);
	size_t len = query ? (size_t)(query - s) : n;

	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	if (!n || s[0] != '/' || len >= sizeof(q->path))
		return false;
	memcpy(q->path, s, len);
	q->path[len] = '\0';
	return true;
}

/* METHOD SP TARGET SP HTTP/1.x */
static int request_line(const char *s, size_t n, struct http_request *q, bool *host_needed)
{
	const char *a = memchr(s, ' ', n),
		   *b = a ? memchr(a + 1, ' ', n - (size_t)(a + 1 - s)) : NULL;
	size_t method = a ? (size_t)(a - s) : 0, version = b ? n - (size_t)(b + 1 - s) : 0;

	if (!b || !is_token(s, method) || version != 8 || memcmp(b + 1, "HTTP/", 5))
		return 400;
	if (memcmp(b + 6, "1.", 2) || (b[8] != '0' && b[8] != '1'))
		return 505;
	*host_needed = b[8] == '1';
	if (!take_path(a + 1, (size_t)(b - a - 1), q))
		return 400;
	q->head = word_is(s, method, "HEAD");
	return q->head || word_is(s, method, "GET") ? 200 : 405;
}

static bool holds(const char *s, size_t n, const char *word)
{
	size_t w = strlen(word);

	for (size_t i = 0; i + w <= n; i++)
		if (!strncasecmp(s + i, word, w))
			return true;
	return false;
}

static int header_line(const char *s, size_t n, struct http_request *q, bool *host)
{
	const char *colon = memchr(s, ':', n);
	size_t name = colon ? (size_t)(colon - s) : 0;

	if (!colon || !is_token(s, name))
		return 400;
	if (name == 4 && !strncasecmp(s, "host", 4))
		*host = true;
	if (name == 6 && !strncasecmp(s, "accept", 6) &&
	    holds(colon + 1, n - name - 1, "application/openmetrics-text"))
		q->openmetrics = true;
	return 200;
}

int http_parse(const char *buf, size_t n, struct http_request *q)
{
	bool host_needed = false, host = false;
	size_t at = 0, len, next;
	int status = 200, line;

	memset(q, 0, sizeof(*q));
	for (int i = 0; next_line(buf + at, n - at, &len, &next); i++) {
		if (i && !len)
			return status == 200 && host_needed && !host ? 400 : status;
		line = i ? header_line(buf + at, len, q, &host)
			 : request_line(buf + at, len, q, &host_needed);
		if (status == 200)
			status = line;
		at += next;
	}
	return n >= HTTP_HEAD_MAX ? 431 : 0;
}
