/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes the bytes of a terminal into keys. */
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

/* Returns the first key in buf, a character or enum key, and its length in *used. 0: buf ends
 * within a sequence, and more bytes may come. `last`: no more bytes come, so that a lone escape is
 * a key. */
int keys_next(const char *buf, size_t n, bool last, size_t *used);

#endif
