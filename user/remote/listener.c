// SPDX-License-Identifier: GPL-2.0-only
#include "remote/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guarded.h"
#include "base/clock.h"
#include "base/confine.h"
#include "remote/auth.h"
#include "base/drop.h"
#include "remote/remote.h"
#include "remote/serve.h"

enum {
	BACKLOG = 64,
	VISITORS_MAX = 64,
	VISITORS_OF_ONE = 16,	/* from one other host */
	WAIT_LEAST_MS = 500,	/* how long a visitor keeps its place at least */
	PAUSE_NS = 20000000,
};

/* A client that is served, or waits to be. */
struct visitor {
	pid_t pid; /* 0: nobody */
	uint64_t since_ns;
	struct sockaddr_storage from;
};

struct listener {
	const struct listener_options *o;
	int fd, signals;
	sigset_t usual; /* the signal mask at the start */
	struct desk *desk;
	struct auth_key key;
	struct visitor visitor[VISITORS_MAX];
	int told[VISITORS_MAX]; /* connections that were told to come again; closed one round of the
				   ring later, so that they can read it */
	size_t n_told;
	int last_code; /* of the last run that was let in */
};

static int bind_and_listen(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	one = errno;
	close(fd);
	errno = one;
	return -1;
}

static bool is_loopback(const struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)ss)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)ss)->sin_addr.s_addr) >> 24 == 127;
}

static const char *who_may(const struct listener *l, const struct sockaddr_storage *ss)
{
	if (l->key.n)
		return "clients prove that they know its secret; nothing is encrypted";
	return is_loopback(ss) ? "nothing is authenticated: every user of this host may run tests "
				 "(other hosts: --listen ADDRESS --key FILE)"
			       : "nothing is authenticated: whoever reaches this port may run "
				 "tests on this host";
}

static void announce(const struct listener *l)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	char host[128], port[8];

	getsockname(l->fd, (void *)&ss, &len);
	getnameinfo((void *)&ss, len, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	printf("listening at %s port %s; %s\n", host, port, who_may(l, &ss));
	fflush(stdout);
}

static int check_exposed(const struct listener *l, const struct sockaddr *a, const char *where,
			 struct err *e)
{
	if (l->key.n || l->o->insecure || is_loopback((const void *)a))
		return 0;
	return err_usage(e,
			 "--listen %s: other hosts can reach this address, and none would need a "
			 "secret; give --key FILE, or --insecure in a lab",
			 where);
}

static int open_listener(const struct listener *l, const char *where, struct err *e)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICHOST },
			*list = NULL;
	char host[128], port[8];
	int fd;

	if (remote_split(where, host, sizeof(host), port) || getaddrinfo(host, port, &hints, &list))
		return err_usage(e,
				 "--listen '%s': not an address of this host; give ADDRESS, "
				 "ADDRESS:PORT or [IPV6]:PORT",
				 where);
	fd = check_exposed(l, list->ai_addr, where, e) ? -1 : bind_and_listen(list);
	freeaddrinfo(list);
	if (fd >= 0 || err_is_set(e))
		return fd;
	return err_sys(e, EXIT_NO_RESOURCE, "give another --listen ADDRESS:PORT",
		       "--listen %s port %s", host, port);
}

static int prepare(struct listener *l, struct err *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &l->usual);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0)
		return err_sys(e, EXIT_NO_RESOURCE, NULL, "server");
	l->desk = guarded_map(sizeof(*l->desk), NULL, e);
	if (!l->desk)
		return -1;
	if (auth_key_read(&l->key, l->o->key, e))
		return -1;
	l->fd = open_listener(l, l->o->listen ? l->o->listen : "127.0.0.1", e);
	if (l->fd < 0 || drop_privileges(l->o->user, 0, e))
		return -1;
	return confine(MAY_EXEC, e); /* some workloads' ends are programs: see let_in() */
}

static void tell(const struct listener *l, const char *who, bool entered, const struct err *e)
{
	if (l->o->quiet)
		return;
	if (err_is_set(e))
		printf("%s: %s: %s\n", who, entered ? "run ended" : "refused", e->text);
	else
		printf("%s: run over\n", who);
	fflush(stdout);
}

/* The child that serves one client. The exit code says how a run that was let in ended. */
static void visit(struct listener *l, int fd, const struct sockaddr_storage *from, socklen_t len)
{
	struct err e = {};
	char who[128] = "?";
	bool entered;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN); /* the terminal sends it to all; the listener decides */
	sigprocmask(SIG_SETMASK, &l->usual, NULL);
	close(l->fd);
	close(l->signals);
	getnameinfo((const void *)from, len, who, sizeof(who), NULL, 0, NI_NUMERICHOST);
	session_serve(fd, l->desk, &l->key, &entered, &e);
	tell(l, who, entered, &e);
	close(fd);
	_exit((int)e.code);
}

static bool same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)a)->sin6_addr,
					  &((const struct sockaddr_in6 *)b)->sin6_addr);
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* All users of this host have the same address, so a limit there would let one of them take the
 * places of all others. */
static bool has_too_many(const struct listener *l, const struct sockaddr_storage *from)
{
	int n = 0;

	for (size_t i = 0; i < VISITORS_MAX; i++)
		n += l->visitor[i].pid && same_host(&l->visitor[i].from, from);
	return !is_loopback(from) && n >= VISITORS_OF_ONE;
}

/* Returns a free place, or that of the visitor that has waited longest and is not served: an honest
 * client is admitted within milliseconds. */
static struct visitor *find_place(struct listener *l)
{
	pid_t served = __atomic_load_n(&l->desk->owner, __ATOMIC_ACQUIRE);
	struct visitor *oldest = NULL;

	for (struct visitor *v = l->visitor; v < l->visitor + VISITORS_MAX; v++) {
		if (!v->pid)
			return v;
		if (v->pid != served && (!oldest || v->since_ns < oldest->since_ns))
			oldest = v;
	}
	if (!oldest || now_ns() - oldest->since_ns < WAIT_LEAST_MS * 1000000ull)
		return NULL;
	kill(oldest->pid, SIGKILL);
	oldest->pid = 0; /* reap() then finds no visitor with this pid */
	return oldest;
}

static void tell_busy(struct listener *l, int fd)
{
	int *place = &l->told[l->n_told++ % VISITORS_MAX];

	if (l->n_told > VISITORS_MAX)
		close(*place);
	session_busy(fd);
	*place = fd;
}

static void admit_one(struct listener *l)
{
	struct timespec pause = { 0, PAUSE_NS };
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int fd = accept4(l->fd, (void *)&from, &len, SOCK_CLOEXEC);
	struct visitor *v;
	pid_t pid;

	if (fd < 0) {
		nanosleep(&pause, NULL); /* out of descriptors, maybe: stays in the accept queue */
		return;
	}
	v = has_too_many(l, &from) ? NULL : find_place(l);
	if (!v) {
		tell_busy(l, fd);
		return;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		visit(l, fd, &from, len);
	if (pid > 0)
		*v = (struct visitor){ pid, now_ns(), from };
	close(fd);
}

/* Collects ended sessions. One that was killed has not released the desk. */
static void reap(struct listener *l)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		pid_t owner = pid;

		for (size_t i = 0; i < VISITORS_MAX; i++)
			if (l->visitor[i].pid == pid)
				l->visitor[i].pid = 0;
		__atomic_compare_exchange_n(&l->desk->owner, &owner, 0, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE);
		l->last_code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_PEER;
	}
}

static bool over(const struct listener *l)
{
	return l->o->once && __atomic_load_n(&l->desk->served, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&l->desk->owner, __ATOMIC_ACQUIRE);
}

/* True if a signal says to end. */
static bool signalled(struct listener *l)
{
	struct signalfd_siginfo si;
	bool end = false;

	while (read(l->signals, &si, sizeof(si)) == sizeof(si))
		end |= si.ssi_signo != SIGCHLD;
	reap(l);
	return end;
}

static int serve(struct listener *l)
{
	struct pollfd p[2] = { { l->fd, POLLIN, 0 }, { l->signals, POLLIN, 0 } };

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return EXIT_NO_RESOURCE;
		if (p[1].revents && signalled(l))
			return l->desk->owner ? EXIT_INTERRUPTED : EXIT_DONE;
		if (over(l))
			return l->last_code;
		if (p[0].revents)
			admit_one(l);
	}
}

/* Sessions die with this process (PR_SET_PDEATHSIG), and their workers with them. */
int listener_run(const struct listener_options *o, struct err *e)
{
	struct listener l = { .o = o, .fd = -1, .signals = -1 };
	int rc = (int)EXIT_NO_RESOURCE;

	if (prepare(&l, e) == 0) {
		announce(&l);
		rc = serve(&l);
	}
	if (l.fd >= 0)
		close(l.fd);
	if (l.signals >= 0)
		close(l.signals);
	guarded_unmap(l.desk, sizeof(*l.desk));
	sigprocmask(SIG_SETMASK, &l.usual, NULL);
	return err_is_set(e) ? (int)e->code : rc;
}
