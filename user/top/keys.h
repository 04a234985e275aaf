/* SPDX-License-Identifier: GPL-2.0-only */
/* From the bytes a terminal sends to keys. */
#ifndef IPCSTALL_TOP_KEYS_H
#define IPCSTALL_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum key {
	KEY_ENTER = 13,
	KEY_ESC = 27,
	KEY_BACKSPACE = 127,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_PGUP,
	KEY_PGDN,
	KEY_HOME,
	KEY_END,
	KEY_OTHER
};

/* The first key in buf: its code, a character's or enum key; *used bytes of it. 0: buf ends within
 * a sequence, more may come; `last` says that nothing more comes, and a lone escape is the key. */
int keys_next(const char *buf, size_t n, bool last, size_t *used);

#endif
