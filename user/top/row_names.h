/* SPDX-License-Identifier: GPL-2.0-only */
/* The texts of a row: program, addresses, cause, blame. They are all ASCII, because columns are
 * counted in bytes. */
#ifndef IPCSTALL_TOP_ROW_NAMES_H
#define IPCSTALL_TOP_ROW_NAMES_H

#include "top/rows.h"

/* The program that uses the endpoint: the writer, else the reader; "" if none was seen. At most 15
 * bytes. */
const char *digest_program(const struct trace_digest *s);

/* "nginx[123]"; "?" if no process was seen */
void program_text(const char comm[16], pid_t tgid, char *buf, size_t len);
void digest_who(const struct trace_digest *s, char *buf, size_t len);

/* "127.0.0.1:80", "[::1]:80"; a pipe or Unix socket: "pipe:[inode]" */
void local_text(const struct trace_digest *s, char *buf, size_t len);
/* The address of the other end; "-" if it has none. peer: NULL if it is not traced. */
void remote_text(const struct trace_digest *s, const struct trace_digest *peer, char *buf,
		 size_t len);

/* "1.2k"; "-" if it is not known */
void rate_text(const struct rows *p, uint64_t n, bool known, char *buf, size_t len);

const char *
cause_text(const struct row *r); /* "drops": datagrams were lost, without a stall; "-": nothing */
/* "delack nginx[123]", "reader? peer", "path?"; '?': inferred from this end alone; "-": nobody */
void blamed_text(const struct rows *p, const struct row *r, char *buf, size_t len);

/* "nagle, delack", "rwnd, reader?", "drops"; "-": nothing */
void why_text(const struct row *r, char *buf, size_t len);
/* What the endpoint waits for: "nginx[123]", the address of an end that is not traced, "the path",
 * "itself", "a CPU"; "-": nothing */
void for_whom_text(const struct rows *p, const struct row *r, char *buf, size_t len);

/* The path below the cgroup v2 mount; "-" when unknown. */
void cgroup_text(const struct trace_digest *s, char *buf, size_t len);

/* All texts that the filter searches, in one line. */
void row_text(const struct rows *p, const struct row *r, char *buf, size_t len);

#endif
