// SPDX-License-Identifier: GPL-2.0-only
#include "top/keys.h"

/* end: the byte that ends a CSI or SS3 sequence; number: the number before a '~' */
static int special(char end, int number)
{
	switch (end) {
	case 'A': return KEY_UP;
	case 'B': return KEY_DOWN;
	case 'H': return KEY_HOME;
	case 'F': return KEY_END;
	case '~':
		return number == 5		    ? KEY_PGUP
		       : number == 6		    ? KEY_PGDN
		       : number == 1 || number == 7 ? KEY_HOME
		       : number == 4 || number == 8 ? KEY_END
						    : KEY_OTHER;
	default: return KEY_OTHER;
	}
}

static int sequence(const char *buf, size_t n, size_t *used)
{
	int number = 0;

	for (size_t i = 2; i < n; i++) {
		if (buf[i] >= '0' && buf[i] <= '9' && number < 1000)
			number = 10 * number + buf[i] - '0';
		if (buf[i] >= '@' && buf[i] <= '~') {
			*used = i + 1;
			return special(buf[i], number);
		}
	}
	return 0;
}

int keys_next(const char *buf, size_t n, bool last, size_t *used)
{
	int key;

	*used = 0;
	if (!n)
		return 0;
	if (buf[0] == KEY_ESC && n > 1 && (buf[1] == '[' || buf[1] == 'O')) {
		key = sequence(buf, n, used);
		if (key || !last)
			return key;
		*used = n;
		return KEY_OTHER;
	}
	if (buf[0] == KEY_ESC && n == 1 && !last)
		return 0;
	*used = 1;
	if (buf[0] == '\n' || buf[0] == '\r')
		return KEY_ENTER;
	return buf[0] == '\b' ? KEY_BACKSPACE : (unsigned char)buf[0];
}
