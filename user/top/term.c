// SPDX-License-Identifier: GPL-2.0-only
#include "top/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "top/keys.h"

/* Static, because a process has one terminal to give back, and signal handlers reach only statics.
 */
static struct {
	struct termios before;
	int keys; /* where keys come from */
	bool taken, own_fd;
	char buf[64];
	size_t n;
} term = { .keys = -1 };

static volatile sig_atomic_t resized, stopped;

/* enter: alternate screen, no cursor, no wrapping; leave: the reverse */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[2J",
		  leave[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

static void on_resize(int sig)
{
	resized = 1;
}

static void on_stop(int sig)
{
	stopped = 1;
}

static int write_all(const char *s, size_t n)
{
	while (n) {
		ssize_t k = write(STDOUT_FILENO, s, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		s += k;
		n -= (size_t)k;
	}
	return 0;
}

static int raw_mode(void)
{
	struct termios raw = term.before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	return tcsetattr(term.keys, TCSADRAIN, &raw);
}

void term_give_back(void)
{
	if (!term.taken)
		return;
	term.taken = false;
	write_all(leave, sizeof(leave) - 1);
	tcsetattr(term.keys, TCSADRAIN, &term.before);
	if (term.own_fd)
		close(term.keys);
	term.own_fd = false;
}

int term_take(struct err *e)
{
	struct sigaction resize = { .sa_handler = on_resize }, stop = { .sa_handler = on_stop };

	term.own_fd = !isatty(STDIN_FILENO);
	term.keys = term.own_fd ? open("/dev/tty", O_RDWR | O_CLOEXEC) : STDIN_FILENO;
	if (term.keys < 0 || tcgetattr(term.keys, &term.before))
		return err_sys(e, EXIT_NO_RESOURCE, "run it in a terminal, or with --batch",
			       "top: no terminal to read keys from");
	sigaction(SIGWINCH, &resize, NULL);
	sigaction(SIGTSTP, &stop, NULL);
	term.taken = true;
	atexit(term_give_back);
	if (raw_mode() || write_all(enter, sizeof(enter) - 1))
		return err_sys(e, EXIT_IO, "run it with --batch",
			       "top: the terminal cannot be set up");
	resized = 1;
	return 0;
}

/* Ctrl-Z: gives the terminal back to the shell, stops, and takes it again after `fg`. */
static void stop_here(void)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, again = { .sa_handler = on_stop };

	stopped = 0;
	write_all(leave, sizeof(leave) - 1);
	tcsetattr(term.keys, TCSADRAIN, &term.before);
	sigaction(SIGTSTP, &stop, NULL);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &again, NULL);
	raw_mode();
	write_all(enter, sizeof(enter) - 1);
	resized = 1;
}

bool term_size(int *w, int *h)
{
	struct winsize ws = {};
	bool changed = resized;

	resized = 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col || !ws.ws_row)
		ws = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	*w = ws.ws_col;
	*h = ws.ws_row;
	return changed;
}

int term_show(struct canvas *c)
{
	canvas_diff(c);
	return write_all(c->out, c->n);
}

static int take_key(bool last)
{
	size_t used;
	int key = keys_next(term.buf, term.n, last, &used);

	memmove(term.buf, term.buf + used, term.n - used);
	term.n -= used;
	return key;
}

static bool wait_readable(uint64_t until_ns, bool *gone)
{
	struct pollfd p = { .fd = term.keys, .events = POLLIN };
	uint64_t now = now_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec t = { .tv_sec = (time_t)(left / 1000000000),
		.tv_nsec = (long)(left % 1000000000) };
	int n = ppoll(&p, 1, &t, NULL);

	*gone = n == 1 && !(p.revents & POLLIN);
	return n == 1 && !*gone;
}

enum { ESCAPE_NS = 50000000 }; /* how long after an escape the rest of a sequence may come */

int term_key(uint64_t until_ns)
{
	bool gone = false;
	int key = take_key(term.n == sizeof(term.buf)); /* no key has so many bytes */
	ssize_t n;

	if (key)
		return key;
	if (!wait_readable(term.n ? now_ns() + ESCAPE_NS : until_ns, &gone)) {
		if (stopped)
			stop_here();
		if (gone)
			return TERM_GONE;
		return term.n && (key = take_key(true)) ? key : TERM_TIMEOUT;
	}
	n = read(term.keys, term.buf + term.n, sizeof(term.buf) - term.n);
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		return TERM_GONE;
	term.n += n > 0 ? (size_t)n : 0;
	key = take_key(false);
	return key ? key : TERM_TIMEOUT;
}
