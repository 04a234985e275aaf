// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a server that seems to owe an answer work on it? It does not if, while the request lies with
 * it, a thread waits for the next data of that very connection, all other threads are idle, and it
 * waits for no other server: what it sends then is news, such as a ping or a message for a
 * subscriber. /proc tells what each thread polls, sock_diag who sent last on a connection. Sockets
 * that were registered once and for all (EPOLLET), as Go's runtime does, tell nothing.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "host/asleep.h"
#include "host/proc.h"
#include "host/sock_diag.h"
#include "host/thread_call.h"
#include "tracer/diag_sockets.h"
#include "tracer/internal.h"
#include "tracer/forwarded_request.h"
#include "tracer/process_cpu.h"
#include "tracer/tcp_turns.h"

#define ROUNDS	   5
#define ENOUGH	   4 /* of these rounds: in one it may be about to read */
#define APART_NS   83000000 /* an idle moment between two requests is shorter than all rounds */
#define POLLS_MOST  16384 /* sockets; any beyond these stay unknown */
#define EPOLLS_MOST 64
#define FDS_MOST    1024

struct polled {
	pid_t pid;
	int fds; /* its folder of descriptors */
	uint64_t inodes[POLLS_MOST];
	size_t n;
	uint64_t *awaited; /* sockets for whose next data a thread waits, in whatever call */
	size_t n_awaited;
	uint64_t epolls[EPOLLS_MOST]; /* epoll descriptors already listed: threads may share one */
	size_t n_epolls;
	bool stopped;
	bool works; /* a thread waits for something else than data or another thread */
	bool runs_now;
	bool is_incomplete; /* a thread may wait for data at more sockets than `awaited` has */
	unsigned int runs; /* rounds in which a thread had a CPU */
	struct tcp_turns turns;
	uint64_t *own; /* its sockets */
	size_t n_own;
};

static void add(struct polled *p, uint64_t inode)
{
	if (inode && p->n < POLLS_MOST)
		p->inodes[p->n++] = inode;
}

static void add_awaited(struct polled *p, uint64_t inode)
{
	if (inode && p->n_awaited < POLLS_MOST)
		p->awaited[p->n_awaited++] = inode;
	p->is_incomplete |= p->n_awaited == POLLS_MOST;
}

static bool is_first_time(struct polled *p, uint64_t epoll_fd)
{
	for (size_t i = 0; i < p->n_epolls; i++)
		if (p->epolls[i] == epoll_fd)
			return false;
	p->is_incomplete |= p->n_epolls == EPOLLS_MOST;
	if (p->n_epolls == EPOLLS_MOST)
		return false;
	p->epolls[p->n_epolls++] = epoll_fd;
	return true;
}

/* "tfd: 5 events: 19 data: ... pos:0 ino:3f2 sdev:8" */
static void add_registered(struct polled *p, uint64_t epoll_fd)
{
	for_each_line (l, proc_path(p->pid, "fdinfo/%" PRIu64, epoll_fd).text) {
		unsigned int events;
		uint64_t inode;

		if (p->n_awaited >= POLLS_MOST)
			break;
		if (sscanf(l.text, "tfd: %*d events: %x data: %*x pos:%*d ino:%" SCNx64, &events,
			   &inode) != 2 ||
		    !(events & EPOLLIN))
			continue;
		add_awaited(p, inode);
		if (!(events & EPOLLET))
			add(p, inode);
	}
}

static void add_polled(struct polled *p, pid_t tid, const struct thread_call *call)
{
	uint64_t fds[FDS_MOST];
	size_t n = thread_call_polled(tid, call, fds, FDS_MOST);

	if (n == THREAD_POLLS_UNKNOWN) {
		p->is_incomplete = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t inode = proc_inode(p->fds, (long)fds[i]);

		add(p, inode);
		add_awaited(p, inode);
	}
}

/* Is it a helper that waits for a signal or a wake-up, through a pipe? */
static bool reads_no_socket(const struct polled *p, const struct thread_call *call)
{
	char name[24], to[16] = "";

	snprintf(name, sizeof(name), "%" PRIu64, call->args[0]);
	return asleep_is_receive(call->nr) && readlinkat(p->fds, name, to, sizeof(to) - 1) > 0 &&
	       strncmp(to, "socket:", 7) != 0;
}

static void ask_thread(void *ctx, int dir, long tid)
{
	struct polled *p = ctx;
	struct thread_call call;

	(void)dir;
	switch (thread_call_read(p->pid, (pid_t)tid, &call)) {
	case THREAD_GONE: return;
	case THREAD_RUNS: p->runs_now = true; return;
	case THREAD_IN_CALL: break;
	}
	p->works |= !asleep_is_idle(&call) && !reads_no_socket(p, &call);
	p->is_incomplete |= call.nr == SYS_io_uring_enter;
	if (asleep_is_receive(call.nr))
		add_awaited(p, proc_inode(p->fds, (long)(int)call.args[0]));
	if (thread_call_is_epoll(&call) && is_first_time(p, call.args[0]))
		add_registered(p, call.args[0]);
	else if (thread_call_is_poll(&call) || thread_call_is_select(&call))
		add_polled(p, (pid_t)tid, &call);
}

static bool is_in(const uint64_t *inodes, size_t n, uint64_t inode)
{
	return inode && n && bsearch(&inode, inodes, n, sizeof(inode), order_u64);
}

/* The inode of the server's socket on this connection; 0: the server has no part in it. */
static uint64_t servers_inode(const struct trace_endpoint *ep, uint64_t other, pid_t server)
{
	if (ep->proto == TRACE_PIPE || ep->closed)
		return 0;
	if (ep->making.other_pid == server)
		return other;
	return ep->rx_calls.tgid == server || ep->tx_calls.tgid == server ? ep->inode : 0;
}

static void add_own(void *ctx, int dir, long fd)
{
	struct polled *p = ctx;
	uint64_t inode = p->n_own < POLLS_MOST ? proc_inode(dir, fd) : 0;

	if (inode)
		p->own[p->n_own++] = inode;
}

static void list_own(struct polled *p)
{
	p->n_own = 0;
	proc_numbers(proc_path(p->pid, "fd").text, add_own, p);
}

/* Is it the client on a connection, and waits for the answer there? */
static bool waits_for_another(const struct polled *p)
{
	for (size_t i = 0; i < p->n_own; i++) {
		const struct tcp_turn *t = tcp_turns_find(&p->turns, p->own[i]);

		if (t && tcp_turns_awaits_answer(&p->turns, t) && t->sent_ms < TCP_TURN_LONG_AGO_MS)
			return true;
	}
	return false;
}

static void ask(struct polled *p)
{
	p->n = p->n_awaited = p->n_epolls = 0;
	p->works = p->runs_now = p->is_incomplete = false;
	tcp_turns_read(&p->turns);
	list_own(p);
	proc_numbers(proc_path(p->pid, "task").text, ask_thread, p);
	p->n = array_unique(p->inodes, p->n);
	p->n_awaited = array_unique(p->awaited, p->n_awaited);
	p->runs += p->runs_now;
	p->works |= waits_for_another(p);
}

#define THROUGHOUT 0.9 /* of its time */

static const struct trace_endpoint *client_of(const struct trace_snapshot *s, size_t i,
					      pid_t server)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (ep->making.other_pid == server)
		return ep;
	return ep->peer >= 0 ? &s->ep[ep->peer] : NULL;
}

/* Request and answer have one tick, and the client does not wait all the time: it has its answer.
 */
static bool may_be_answered(const struct trace_snapshot *s, size_t i, pid_t server,
			    const struct tcp_turn *t)
{
	const struct trace_endpoint *client = client_of(s, i, server);
	uint64_t wait = client ? client->rx.ns[RX_WAIT] : 0;

	return t->came_ms == t->sent_ms && wait &&
	       (double)wait < THROUGHOUT * (double)client->rx.lifetime_ns;
}

/* Does the server wait for the next data there, though what came last has no answer? */
static bool is_idle_at(const struct polled *p, const struct trace_snapshot *s, size_t i,
		       uint64_t inode)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct tcp_turn *t = ep->proto == TRACE_TCP ? tcp_turns_find(&p->turns, inode) : NULL;

	if (p->works || !is_in(p->inodes, p->n, inode) || (t && may_be_answered(s, i, p->pid, t)))
		return false;
	return ep->proto != TRACE_TCP || (t && tcp_turn_owes(t) && t->gets <= TRACE_ACK_MOST &&
					  !is_passed_on(&p->turns, p->awaited, p->n_awaited, t));
}

/* Does the server owe an answer there, while it is stopped or no thread waits for more of the
 * request? */
static bool is_at_work_at(const struct polled *p, const struct trace_endpoint *ep, uint64_t inode)
{
	const struct tcp_turn *t = ep->proto == TRACE_TCP ? tcp_turns_find(&p->turns, inode) : NULL;

	return t && tcp_turn_owes(t) && tcp_turn_answers(t) && p->n_own &&
	       (p->stopped || (!p->is_incomplete && !is_in(p->awaited, p->n_awaited, inode)));
}

/* A client that waits all the time, in a call for that connection alone, and has sent something
 * though the server never did, waits for an answer, even if the server expects more of the request,
 * or has forgotten it. */
static bool is_owed_at(const struct polled *p, const struct trace_snapshot *s, size_t i,
		       uint64_t inode)
{
	const struct trace_endpoint *ep = &s->ep[i], *client = client_of(s, i, p->pid);
	const struct tcp_turn *t = ep->proto == TRACE_TCP ? tcp_turns_find(&p->turns, inode) : NULL;

	return t && client && tcp_turn_owes(t) && t->comes && !t->sends &&
	       (double)client->rx.ns[RX_WAIT] >= THROUGHOUT * (double)client->rx.lifetime_ns;
}

/* Is the process stopped? Mostly that happens in the middle of such a call. */
static bool is_stopped(pid_t pid)
{
	struct cpu_book now, none = {};
	const struct process_cpu *p;
	bool stopped;

	cpu_book_make(&now, &none, &pid, 1);
	p = cpu_book_find(&now, pid);
	stopped = !p || p->stopped;
	cpu_book_free(&now);
	return stopped;
}

/* by the endpoint's index: in how many rounds the server was idle there, or at work */
struct rounds {
	uint8_t idle, at_work;
};

static void ask_again_and_again(struct polled *p, const struct trace_snapshot *s,
				const uint64_t *inodes, struct rounds *found)
{
	for (int round = 0; round < ROUNDS; round++) {
		nanosleep(&(struct timespec){ .tv_nsec = APART_NS }, NULL);
		ask(p);
		for (size_t i = 0; i < s->n; i++) {
			bool owed = is_owed_at(p, s, i, inodes[i]);

			found[i].idle += !owed && is_idle_at(p, s, i, inodes[i]);
			found[i].at_work += owed || is_at_work_at(p, &s->ep[i], inodes[i]);
		}
	}
}

static void note(struct trace_snapshot *s, size_t i, const struct rounds *found, bool runs)
{
	struct trace_endpoint *ep = &s->ep[i];

	ep->making.server_polls |= found->idle >= ENOUGH && !runs;
	ep->making.server_works |= found->at_work >= ENOUGH;
	if (ep->making.server_works && ep->making.sent_last)
		ep->rx_calls.open_reply_ns = ep->rx.lifetime_ns;
}

static struct polled *polled_new(pid_t server)
{
	struct polled *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = server;
	p->own = array_new(POLLS_MOST, 0, sizeof(*p->own));
	p->awaited = array_new(POLLS_MOST, 0, sizeof(*p->awaited));
	p->fds = open(proc_path(server, "fd").text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p;
}

static void polled_free(struct polled *p)
{
	if (!p)
		return;
	if (p->fds >= 0)
		close(p->fds);
	tcp_turns_free(&p->turns);
	free(p->own);
	free(p->awaited);
	free(p);
}

void trace_ask_server(struct trace_snapshot *s, pid_t server)
{
	struct polled *p = polled_new(server);
	struct rounds *found = array_new(s->n, 1, sizeof(*found));
	uint64_t *inodes = array_new(s->n, 1, sizeof(*inodes));
	int before;

	if (p && p->own && p->awaited && found && inodes) {
		p->stopped = is_stopped(server);
		other_ends_inodes(s, inodes);
		for (size_t i = 0; i < s->n; i++)
			inodes[i] = servers_inode(&s->ep[i], inodes[i], server);
		before = sock_diag_enter(server);
		ask_again_and_again(p, s, inodes, found);
		sock_diag_leave(before);
		for (size_t i = 0; i < s->n; i++)
			note(s, i, &found[i], p->runs >= ENOUGH || p->stopped);
	}
	free(found);
	free(inodes);
	polled_free(p);
}

/* ---- from whom a thread that polls, or sleeps in a read, awaits an answer ---- */

#define ASKED_MOST   16	  /* connections; a process that awaits more serves many */
#define SOCKETS_MOST 8192 /* of more, a dump takes too long */

struct own_requests {
	uint64_t inodes[ASKED_MOST];
	size_t n;
};

/* How long the process has owed an answer, in ms; 0: it owes none on a TCP connection. */
static unsigned int owes_for_ms(const struct polled *p)
{
	unsigned int ms = 0;

	for (size_t i = 0; i < p->n_own; i++) {
		const struct tcp_turn *t = tcp_turns_find(&p->turns, p->own[i]);

		if (t && tcp_turn_owes_answer(t))
			ms = MAX(ms, t->came_ms);
	}
	return ms;
}

/* Is the request a current one? If the thread polls several connections, one on which it sent
 * before it was asked itself, or long ago, awaits nothing: a consumer's acknowledgement, for
 * example. */
static bool is_of_now(const struct polled *p, const struct tcp_turn *t, unsigned int owes_ms)
{
	return p->n_awaited == 1 ||
	       t->sent_ms <= (owes_ms ? owes_ms + TCP_TURN_TICK_MS : TCP_TURN_LONG_AGO_MS);
}

/* The thread awaits answers on connections that its process made. False: on none, or too many. */
static bool find_requests(const struct polled *p, struct own_requests *r)
{
	unsigned int owes_ms = owes_for_ms(p);

	for (size_t i = 0; i < p->n_awaited; i++) {
		const struct tcp_turn *t = tcp_turns_find(&p->turns, p->awaited[i]);

		if (!t || !tcp_turns_awaits_answer(&p->turns, t) || !is_of_now(p, t, owes_ms))
			continue;
		if (r->n == ASKED_MOST)
			return false;
		r->inodes[r->n++] = t->inode;
	}
	return r->n;
}

static bool find_passed_request(const struct polled *p, struct own_requests *r)
{
	const struct tcp_turn *t = passed_request(&p->turns, p->awaited, p->n_awaited);

	if (t)
		r->inodes[r->n++] = t->inode;
	return t;
}

static bool is_same_server(const struct diag_socket *a, const struct diag_socket *b)
{
	return a->is_local == b->is_local && a->ep->family == b->ep->family &&
	       !memcmp(&a->ep->remote, &b->ep->remote, sizeof(a->ep->remote));
}

/* False: they are several servers. One may have a process for each connection. */
static bool only_server(const struct own_requests *r, pid_t pid, struct trace_asked *out)
{
	struct trace_endpoint ep[ASKED_MOST] = {};
	struct diag_socket v[ASKED_MOST] = {};
	struct diag_sockets all = { v, r->n };
	struct trace_snapshot s = { .ep = ep, .n = r->n };

	for (size_t i = 0; i < r->n; i++) {
		ep[i] = (struct trace_endpoint){ .inode = r->inodes[i], .peer = -1 };
		v[i] = (struct diag_socket){ .inode = r->inodes[i], .ep = &ep[i] };
	}
	for (int i = 0; i < 2; i++) /* for is_local */
		diag_find_tcp(&all);
	trace_name_other_ends(&s);
	for (size_t i = 0; i < r->n; i++)
		if (ep[i].proto != TRACE_TCP || !is_same_server(&v[i], &v[0]) ||
		    ((v[i].is_local || ep[i].making.other_pid) && !diag_answers(&v[i], pid)))
			return false;
	*out = (struct trace_asked){ .server = ep[0].making.other_pid,
				     .family = ep[0].family,
				     .remote = ep[0].remote };
	return true;
}

/* ---- on Unix sockets, which do not tell who sent last ---- */

/* Does a thread of that process wait for the next data there? */
static bool waits_for_data(pid_t pid, uint64_t inode)
{
	struct polled *p = polled_new(pid);
	bool waits = true; /* as far as is known */

	if (p && p->awaited) {
		proc_numbers(proc_path(pid, "task").text, ask_thread, p);
		p->n_awaited = array_unique(p->awaited, p->n_awaited);
		waits = p->is_incomplete || is_in(p->awaited, p->n_awaited, inode);
	}
	polled_free(p);
	return waits;
}

static bool may_have_asked(const struct diag_socket *x, const struct tcp_turns *t, pid_t pid)
{
	return x->is_unix && x->is_connected && diag_has_asked(x, t) && diag_answers(x, pid);
}

/* The process at the other end has the request, or has not read it, or has not accepted the
 * connection. */
static bool has_request(const struct diag_socket *x)
{
	return x->ep->making.other_unaccepted || x->unread ||
	       !waits_for_data(x->ep->making.other_pid, x->peer);
}

/* An event loop that waits for data at all its connections awaits an answer itself. */
static bool awaits_answer(const struct diag_socket *x)
{
	pid_t pid = x->ep->making.other_pid;
	struct polled *p = polled_new(pid);
	struct own_requests r = {};
	int before = sock_diag_enter(pid);
	bool awaits = false;

	if (p && p->awaited && p->own) {
		ask(p);
		awaits = p->turns.n <= SOCKETS_MOST && find_requests(p, &r);
	}
	sock_diag_leave(before);
	polled_free(p);
	return awaits;
}

#define CANDIDATES_MOST 64

static size_t list_candidates(const struct polled *p, struct diag_socket *v,
			      struct trace_endpoint *ep)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_awaited; i++) {
		if (tcp_turns_find(&p->turns, p->awaited[i]))
			continue;
		if (n == CANDIDATES_MOST)
			return 0;
		ep[n] = (struct trace_endpoint){ .proto = TRACE_UNIX_STREAM,
						 .inode = p->awaited[i],
						 .peer = -1 };
		v[n] = (struct diag_socket){ .inode = p->awaited[i], .ep = &ep[n] };
		n++;
	}
	return n;
}

/* It may have a process for each connection. 0: nobody owes an answer, or several servers do. */
static pid_t only_unix_server(const struct diag_sockets *all,
			      bool (*owes)(const struct diag_socket *))
{
	const struct trace_making *server = NULL, *one;

	for (size_t i = 0; i < all->n; i++) {
		if (!owes(&all->v[i]))
			continue;
		one = &all->v[i].ep->making;
		if (server && strcmp(server->other_comm, one->other_comm) != 0)
			return 0;
		server = one;
	}
	return server ? server->other_pid : 0;
}

static void keep_asked(struct diag_sockets *all, const struct tcp_turns *t, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (may_have_asked(&all->v[i], t, pid))
			all->v[n++] = all->v[i];
	all->n = n;
}

#define FEW_ASKED 4 /* connections: to find out takes a list of all sockets for each */

static bool unix_server(const struct polled *p, pid_t pid, struct trace_asked *out)
{
	struct trace_endpoint *ep = array_new(CANDIDATES_MOST, 1, sizeof(*ep));
	struct diag_socket v[CANDIDATES_MOST];
	struct diag_sockets all = { v, ep ? list_candidates(p, v, ep) : 0 };
	struct trace_snapshot s = { .ep = ep, .n = all.n };

	*out = (struct trace_asked){};
	for (int i = 0; all.n && i < 2; i++) /* for peer_named */
		diag_find_unix(&all);
	if (all.n)
		trace_name_other_ends(&s);
	keep_asked(&all, &p->turns, pid);
	out->server = only_unix_server(&all, has_request);
	if (!out->server && all.n <= FEW_ASKED)
		out->server = only_unix_server(&all, awaits_answer);
	free(ep);
	return out->server;
}

bool trace_asked_server(pid_t pid, pid_t tid, struct trace_asked *out)
{
	struct polled *p = polled_new(pid);
	struct own_requests r = {};
	int before = sock_diag_enter(pid);
	bool found = false;

	if (p && p->awaited && p->own) {
		tcp_turns_read(&p->turns);
		list_own(p);
		ask_thread(p, -1, tid);
		p->n_awaited = array_unique(p->awaited, p->n_awaited);
		if (p->turns.n > SOCKETS_MOST)
			found = false;
		else if (find_requests(p, &r) || (!r.n && find_passed_request(p, &r)))
			found = only_server(&r, pid, out);
		else
			found = !r.n && unix_server(p, pid, out);
	}
	sock_diag_leave(before);
	polled_free(p);
	return found;
}
