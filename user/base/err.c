// SPDX-License-Identifier: GPL-2.0-only
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

int err_set(struct err *e, enum exit_code code, const char *fmt, ...)
{
	va_list ap;

	if (err_is_set(e))
		return -1;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	text_clean(e->text, sizeof(e->text)); /* an argument or file name may hold anything; the
						 message stays one line */
	return -1;
}

static enum exit_code code_of_errno(int err, enum exit_code otherwise)
{
	switch (err) {
	case EACCES:
	case EPERM: return EXIT_NO_PERM;
	case ENOSPC:
	case EDQUOT:
	case EPIPE:
	case EFBIG: return EXIT_IO;
	default: return otherwise;
	}
}

const char *err_remedy(int err, const char *otherwise)
{
	return err == EMFILE
		       ? "a process may open too few files here: raise that with `ulimit -n 1024`"
		       : otherwise;
}

int err_sys(struct err *e, enum exit_code code, const char *next, const char *fmt, ...)
{
	int saved = errno;
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	next = err_remedy(saved, next);
	err_set(e, code_of_errno(saved, code), "%s: %s%s%s", what, strerror(saved),
		next ? "; " : "", next ? next : "");
	errno = saved;
	return -1;
}

int err_print(const struct err *e)
{
	if (err_is_set(e))
		fprintf(stderr, "ipcstall: %s\n", e->text);
	return e->code;
}
