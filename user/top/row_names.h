/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of a row: program, addresses, cause, who is blamed. Only ASCII comes out: columns are
 * counted in bytes. */
#ifndef IPCSTALL_TOP_ROW_NAMES_H
#define IPCSTALL_TOP_ROW_NAMES_H

#include "base/human.h"
#include "top/rows.h"

/* Who uses the endpoint: the writer, else the reader; "" when nobody was seen. At most 15 bytes. */
const char *digest_program(const struct trace_digest *s);

/* "nginx[123]"; "?" when nobody was seen */
void program_text(const char comm[16], pid_t tgid, char *buf, size_t len);
void digest_who(const struct trace_digest *s, char *buf, size_t len);

/* "127.0.0.1:80", "[::1]:80"; a pipe or Unix socket: "pipe:[inode]" */
void local_text(const struct trace_digest *s, char *buf, size_t len);
/* The same of the other end; "-" when there is none to name. peer: NULL when not traced. */
void remote_text(const struct trace_digest *s, const struct trace_digest *peer, char *buf,
		 size_t len);

/* "1.2k"; "-" where it is not known */
void rate_text(const struct rows *p, uint64_t n, bool known, char *buf, size_t len);

const char *
cause_text(const struct row *r); /* "drops" where only datagrams were lost; "-": nothing */
/* "delack nginx[123]", "reader? peer", "path?"; '?': inferred from this end; "-": nobody */
void blamed_text(const struct rows *p, const struct row *r, char *buf, size_t len);

/* "nagle, delack", "rwnd, reader?", "drops"; "-": nothing */
void why_text(const struct row *r, char *buf, size_t len);
/* Who keeps it waiting: "nginx[123]", the address of an end that is not traced, "the path",
 * "itself", "a CPU"; "-": nobody */
void for_whom_text(const struct rows *p, const struct row *r, char *buf, size_t len);

/* The path below the cgroup v2 mount; "-" when unknown. */
void cgroup_text(const struct trace_digest *s, char *buf, size_t len);

/* All of the above in one line, for the filter. */
void row_text(const struct rows *p, const struct row *r, char *buf, size_t len);

#endif
