// SPDX-License-Identifier: GPL-2.0-only
#include "try/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum request_kind { REQ_TAKE, REQ_ADD, REQ_SET, REQ_UNDO };

struct request {
	enum request_kind kind;
	const struct setting *setting; /* valid in both processes: one is a fork of the other */
	struct fd_ref ref;
	uint64_t at_most_ns;
};

struct reply {
	int code;
	struct saved was;
	struct changed_result r;
};

static volatile sig_atomic_t asked_to_end;

static void note_end(int sig)
{
	asked_to_end = 1;
}

/* --- in the guardian -------------------------------------------------------------------------- */

static struct reply obey(struct changed_fds *w, const struct request *q, uint64_t *deadline)
{
	struct reply a = {};

	switch (q->kind) {
	case REQ_TAKE:
		a.r = changed_fds_undo(w);
		*w = (struct changed_fds){ .setting = q->setting };
		break;
	case REQ_ADD:
		a.code = changed_fds_add(w, q->ref);
		if (!a.code)
			a.was = w->v[w->n - 1].was;
		break;
	case REQ_SET:
		*deadline = now_ns() + q->at_most_ns;
		a.r = changed_fds_set(w);
		break;
	case REQ_UNDO:
		a.r = changed_fds_undo(w);
		*deadline = 0;
		break;
	}
	return a;
}

static int patience(const struct changed_fds *w, uint64_t deadline)
{
	uint64_t now = now_ns();

	if (!deadline)
		return -1;
	if (w->setting->kept_up)
		return 1;
	return now >= deadline ? 0 : (int)((deadline - now) / 1000000) + 1;
}

static void guard(int fd)
{
	static struct changed_fds w;
	uint64_t deadline = 0;

	while (!asked_to_end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		struct request q;
		struct reply a;
		int n = poll(&p, 1, patience(&w, deadline));

		if (deadline && now_ns() >= deadline) {
			changed_fds_undo(&w);
			deadline = 0;
		} else if (deadline) {
			changed_fds_keep_up(&w);
		}
		if (n <= 0)
			continue;
		if (recv(fd, &q, sizeof(q), 0) != sizeof(q))
			break;
		a = obey(&w, &q, &deadline);
		if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			break;
	}
	changed_fds_undo(&w);
}

/* Takes a session of its own, so that the terminal's Ctrl-C and hangup reach only the tool, which
 * then tells the guardian. */
static void begin_guard(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	static const int ignored[] = { SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGPIPE };
	struct sigaction end = { .sa_handler = note_end }, ignore = { .sa_handler = SIG_IGN };

	/* a reader of the tool's output must not wait for the guardian to close it */
	for (int fd = 0; nothing >= 0 && fd < 3; fd++)
		dup2(nothing, fd);
	setsid();
	prctl(PR_SET_NAME, "ipcstall-guard");
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigaction(SIGTERM, &end, NULL);
}

int guardian_start(struct guardian *g, struct err *e)
{
	int ends[2];

	g->fd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_sys(e, EXIT_NO_RESOURCE, "close some descriptors and run again",
			       "socketpair");
	g->pid = fork();
	if (g->pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return err_sys(e, EXIT_NO_RESOURCE, "end some processes and run again", "fork");
	}
	if (g->pid == 0) {
		begin_guard();
		close(ends[0]);
		guard(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	g->fd = ends[0];
	return 0;
}

/* --- in the tool ------------------------------------------------------------------------------ */

/* The guardian has died: the tool puts back what the guardian had set. */
static int gone(struct guardian *g, struct err *e)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
	changed_fds_undo(&g->like);
	return err_peer(e, "try: the process that guards the options ended; the options are set "
			   "back, run again");
}

static int ask(struct guardian *g, const struct request *q, struct reply *a, struct err *e)
{
	ssize_t n;

	if (g->fd < 0 || send(g->fd, q, sizeof(*q), MSG_NOSIGNAL) != sizeof(*q))
		return gone(g, e);
	do
		n = recv(g->fd, a, sizeof(*a), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*a) ? 0 : gone(g, e);
}

int guardian_take(struct guardian *g, const struct setting *s, struct err *e)
{
	struct request q = { .kind = REQ_TAKE, .setting = s };
	struct reply a;

	if (ask(g, &q, &a, e))
		return -1;
	g->like = (struct changed_fds){ .setting = s };
	return 0;
}

int guardian_add(struct guardian *g, const struct fd_ref *ref, struct saved *was, struct err *e)
{
	struct request q = { .kind = REQ_ADD, .ref = *ref };
	struct reply a = {};

	if (ask(g, &q, &a, e))
		return -EPIPE;
	*was = a.was;
	if (!a.code)
		g->like.v[g->like.n++] = (struct changed_fd){ .ref = *ref, .was = a.was };
	return a.code;
}

static void note_set(struct guardian *g, bool set)
{
	for (size_t i = 0; i < g->like.n; i++)
		g->like.v[i].set = set;
}

int guardian_set(struct guardian *g, uint64_t at_most_ns, struct changed_result *r, struct err *e)
{
	struct request q = { .kind = REQ_SET, .at_most_ns = at_most_ns };
	struct reply a = {};

	note_set(g, true);
	if (ask(g, &q, &a, e))
		return -1;
	*r = a.r;
	return 0;
}

int guardian_undo(struct guardian *g, struct changed_result *r, struct err *e)
{
	struct request q = { .kind = REQ_UNDO };
	struct reply a = {};

	if (ask(g, &q, &a, e))
		return -1;
	note_set(g, false);
	*r = a.r;
	return 0;
}

void guardian_end(struct guardian *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
	if (g->pid > 0)
		waitpid(g->pid, NULL, 0);
	g->pid = 0;
}
