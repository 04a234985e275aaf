/* SPDX-License-Identifier: GPL-2.0-only */
/* Small reads of /proc and /sys: one line, one number, one field. Absent is false, never a guessed
 * value. */
#ifndef IPCSTALL_BASE_TEXT_H
#define IPCSTALL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* First line of a file, without its newline; false (and "") when it cannot be read. */
bool text_first_line(const char *path, char *out, size_t size);

bool text_u64(const char *path, uint64_t *out);

/* /proc/PID/..., to be used within the statement: stat(proc_path(pid, "fd/%d", fd).text, &st) */
struct proc_path {
	char text[96];
};
struct proc_path proc_path(pid_t pid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Each line of a file, with its newline, as l.text; none if it cannot be opened. The loop may be
 * left in any way. */
#define for_each_line(l, path)                                                                \
	for (struct text_lines l __attribute__((cleanup(text_lines_end))) = text_lines(path); \
	     text_lines_next(&l);)
struct text_lines {
	FILE *f;
	char *text;
	size_t room;
};
struct text_lines text_lines(const char *path);
bool text_lines_next(struct text_lines *l);
void text_lines_end(struct text_lines *l);

/* Value of the first line "key<blanks>:<blanks>value" of a file; trailing blanks cut. */
bool text_field(const char *path, const char *key, char *out, size_t size);

/* Is `word` one of the blank-separated words of `list`? */
bool text_has_word(const char *list, const char *word);

/* The number in "socket:[123]" or "pipe:[123]", as links in /proc/PID/fd are; 0: it is neither. */
uint64_t text_link_inode(const char *link);

/* snprintf() at the end of `out`; never beyond size. */
void text_append(char *out, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Make foreign text fit for display: terminated within `size`, UTF-8, and without characters that
 * move a cursor or change the direction of text. Each byte that is no part of a character, and each
 * such character, becomes one '?'. Texts from the kernel, from files and from other hosts are
 * cleaned once, where they come in; code that prints them need not. */
void text_clean(char *s, size_t size);
/* the same, but line ends stay */
void text_clean_lines(char *s, size_t size);
/* a task's comm: the kernel cuts it after 15 bytes, whatever character that falls in */
void text_comm(char out[16], const char in[16]);

#endif
