/* SPDX-License-Identifier: GPL-2.0-only */
/* One error: what failed, why, and what to do next, on one line; and its exit code. */
#ifndef IPCSTALL_BASE_ERR_H
#define IPCSTALL_BASE_ERR_H

#include <stdbool.h>

/* Documented in the man page (user/commands/cmd_man.c); a number is never reused. */
enum exit_code {
	EXIT_DONE = 0,	      /* the job was done whole */
	EXIT_BAD_USAGE = 2,   /* an option or operand is wrong, or two of them exclude each other */
	EXIT_NO_PERM = 3,     /* a privilege is missing */
	EXIT_NO_FEATURE = 4,  /* this kernel, build or machine cannot do it */
	EXIT_NO_RESOURCE = 5, /* port taken, CPU missing, out of memory or descriptors */
	EXIT_IO = 6,	      /* an output could not be written: disk full, closed pipe */
	EXIT_PEER = 7,	      /* the other end died, refused or fell silent */
	EXIT_VERSION = 8,     /* the other end or a file speaks another version */
	EXIT_DATA = 9,	      /* an input file is truncated, corrupt or of the wrong kind */
	/* done, but too noisy or too short to be trusted (only where a command says so) */
	EXIT_NOISY = 10,
	EXIT_BUG = 70,	      /* an invariant of the tool itself is broken */
	EXIT_INTERRUPTED = 130,
};

struct err {
	enum exit_code code; /* EXIT_DONE: no error */
	char text[768];
};

/* Record an error and return -1, so that a caller can write `return err_set(e, ...)`. The text
 * reads "what: why; what to do next". The first error recorded wins: it is nearest to the cause. */
int err_set(struct err *e, enum exit_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define err_usage(e, ...)    err_set(e, EXIT_BAD_USAGE, __VA_ARGS__)
#define err_perm(e, ...)     err_set(e, EXIT_NO_PERM, __VA_ARGS__)
#define err_feature(e, ...)  err_set(e, EXIT_NO_FEATURE, __VA_ARGS__)
#define err_resource(e, ...) err_set(e, EXIT_NO_RESOURCE, __VA_ARGS__)
#define err_peer(e, ...)     err_set(e, EXIT_PEER, __VA_ARGS__)
#define err_version(e, ...)  err_set(e, EXIT_VERSION, __VA_ARGS__)
#define err_data(e, ...)     err_set(e, EXIT_DATA, __VA_ARGS__)

/* What to do about this errno if there is a specific remedy; else `otherwise`. */
const char *err_remedy(int err, const char *otherwise);

/* err_set() for a failed system call: appends strerror(errno) to the text, then "; next" if next
 * is not NULL. EACCES/EPERM become EXIT_NO_PERM, ENOSPC/EPIPE/EFBIG EXIT_IO, everything else
 * `code`. */
int err_sys(struct err *e, enum exit_code code, const char *next, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static inline bool err_is_set(const struct err *e)
{
	return e->code != EXIT_DONE;
}

/* Print "ipcstall: TEXT" to stderr; returns the exit code. */
int err_print(const struct err *e);

#endif
