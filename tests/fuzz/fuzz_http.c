// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as an HTTP request, as they come: a few more each time. Once there is an answer, more
 * bytes do not change it; what is let in is a path of printable characters.
 */
#include "export/http.h"

#include "fuzz/fuzz.h"

static void check_let_in(const struct http_request *q)
{
	MUST(q->path[0] == '/');
	MUST(strlen(q->path) < sizeof(q->path));
	for (const char *c = q->path; *c; c++)
		MUST(*c > ' ' && *c <= '~' && *c != '?');
}

static int known(int status)
{
	return status == 0 || status == 200 || status == 400 || status == 405 || status == 431 ||
	       status == 505;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size < HTTP_HEAD_MAX ? size : HTTP_HEAD_MAX;
	char *buf = malloc(n ? n : 1); /* of that size, so that a byte too far is seen */
	struct http_request q;
	int before = 0;

	memcpy(buf, data, n);
	for (size_t have = n % (1 + n / 64), step = 1 + n / 64; have <= n; have += step) {
		int status = http_parse(buf, have, &q);

		MUST(known(status));
		MUST(!before || status == before);
		before = status;
		if (status == 200)
			check_let_in(&q);
	}
	free(buf);
	return 0;
}
