/* SPDX-License-Identifier: GPL-2.0-only */
/* Small reads of /proc and /sys: one line, one number, one field. Absent is false, never a guessed value. */
#ifndef IPCSTALL_TEXT_H
#define IPCSTALL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First line of a file, without its newline; false (and "") when it cannot be read. */
bool text_first_line(const char *path, char *out, size_t size);

bool text_u64(const char *path, uint64_t *out);

/* Value of the first line "key<blanks>:<blanks>value" of a file; trailing blanks cut. */
bool text_field(const char *path, const char *key, char *out, size_t size);

/* Is `word` one of the blank-separated words of `list`? */
bool text_has_word(const char *list, const char *word);

/* snprintf at the end of what is there; never beyond size. */
void text_append(char *out, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
