/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of a live socket or pipe that a fix changes: how each is read, set and put back. One row
 * each (setting.c). */
#ifndef IPCSTALL_TRY_SETTING_H
#define IPCSTALL_TRY_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an option was before. */
struct saved {
	int64_t value;
	int locks;     /* SO_BUF_LOCK */
	char text[20]; /* for options whose value is a name */
};

struct setting {
	const char *name; /* the fix's name: "nodelay" */
	const char *said; /* the option's name for programmers */
	/* Each is 0 or -errno. */
	int (*read)(int fd, struct saved *was);
	int (*set)(int fd, const struct saved *was);
	int (*undo)(int fd, const struct saved *was);
	/* whether setting it would change anything */
	bool (*changes)(const struct saved *was);
	bool kept_up; /* the kernel resets it by itself, so it is set again every millisecond */
	const char *not_undone; /* what the old value does not bring back; NULL: undoing it
				   leaves no trace */
	bool (*undoable)(int fd); /* with `not_undone`: whether this descriptor can be undone
				     exactly all the same; NULL: never */
};

/* by name; NULL: there is no such row */
const struct setting *setting_find(const char *name);
/* by number, to list them; NULL: there are no more */
const struct setting *setting_at(size_t i);
/* "0", "16384 (locked)", "bbr" */
void saved_text(const struct setting *s, const struct saved *was, char *buf, size_t len);

#endif
