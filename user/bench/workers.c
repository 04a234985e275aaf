// SPDX-License-Identifier: GPL-2.0-only
/* The two ends' processes. The coordinator waits for both at once, so a worker's death, a signal or
 * silence past the time limit ends the point in bounded time, and both are always reaped. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/point_run.h"

enum {
	GRACE_NS = 10000000,
	FAR_GRACE_MS = 500,
};

static const char *role_name(enum role r)
{
	return r == ROLE_CLIENT ? "client" : "server";
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* In the child: keep only its own pipe ends, or the death of the other worker would go unseen. */
static void become_worker(struct point_run *b, enum role role, int orders, int reports)
{
	sigset_t none;

	for (int i = 0; i < ROLES; i++) {
		close_fd(&b->worker[i].orders);
		close_fd(&b->worker[i].reports);
	}
	if (b->run.w->open_pair)
		conn_close(&b->ends[!role]);
	b->run.conn = b->ends[role];
	b->run.role = role;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (role == ROLE_SERVER && b->run.plan->remote)
		b->run.plan->far_end->worker(&b->run, orders, reports);
	worker_main(&b->run, orders, reports);
}

int point_run_spawn(struct point_run *b, enum role role, struct err *e)
{
	int orders[2], reports[2];
	pid_t pid;

	if (pipe2(orders, O_CLOEXEC))
		return err_sys(e, EXIT_NO_RESOURCE, NULL, "pipe");
	if (pipe2(reports, O_CLOEXEC)) {
		close(orders[0]);
		close(orders[1]);
		return err_sys(e, EXIT_NO_RESOURCE, NULL, "pipe");
	}
	pid = fork();
	if (pid == 0) {
		close(orders[1]);
		close(reports[0]);
		become_worker(b, role, orders[0], reports[1]);
	}
	close(orders[0]);
	close(reports[1]);
	b->worker[role] = (struct worker){ pid, orders[1], reports[0] };
	return pid < 0 ? err_sys(e, EXIT_NO_RESOURCE, NULL, "fork") : 0;
}

/* The pipe closed without a report: say how the process ended. */
static int worker_died(struct point_run *b, enum role role, struct err *e)
{
	pid_t pid = b->worker[role].pid;
	int status = 0;

	if (waitpid(pid, &status, 0) == pid)
		b->worker[role].pid = 0;
	if (WIFSIGNALED(status))
		return err_peer(e,
				"%s process %d: killed by signal %d (%s) during the run; this "
				"point is lost, run again",
				role_name(role), (int)pid, WTERMSIG(status),
				strsignal(WTERMSIG(status)));
	if (b->run.w->flags & WL_RPC && WEXITSTATUS(status) == WORKER_OTHER_ABI)
		return err_version(e,
				   "%s: its program ipcstall-%s has another version; run 'make "
				   "rpc' again, or reinstall both",
				   role_name(role), b->run.w->program);
	if (b->run.w->flags & WL_RPC && WEXITSTATUS(status) == WORKER_NOT_LOADED)
		return err_feature(e,
				   "%s: its program ipcstall-%s does not start: a library is "
				   "missing; ldd names it",
				   role_name(role), b->run.w->program);
	return err_peer(e, "%s process %d: ended with status %d during the run; run again",
			role_name(role), (int)pid, WEXITSTATUS(status));
}

/* A worker that takes no order has ended: how it ended is the reason. */
int point_run_order(struct point_run *b, enum role role, const struct order_msg *o, struct err *e)
{
	if (write(b->worker[role].orders, o, sizeof(*o)) == sizeof(*o))
		return 0;
	return worker_died(b, role, e);
}

int point_run_report(struct point_run *b, enum role role, struct err *e)
{
	struct report_msg m;
	ssize_t n = read(b->worker[role].reports, &m, sizeof(m));

	if (n != sizeof(m))
		return worker_died(b, role, e);
	if (m.ok)
		return 0;
	m.err.text[sizeof(m.err.text) - 1] = 0;
	return err_set(e, m.err.code ? m.err.code : EXIT_BUG, "%s", m.err.text);
}

/* Once one end has failed, the other's report is only a consequence, unless it tells of a death. */
static int one_report(struct point_run *b, struct pollfd *pfd, struct err *e)
{
	for (int i = 0; i < ROLES; i++) {
		if (!(pfd[i].revents & (POLLIN | POLLHUP)))
			continue;
		if (point_run_report(b, (enum role)i, e))
			return -1;
		pfd[i].fd = -1;
	}
	return 0;
}

/* The other host's report of why its end failed comes after that end has fallen silent. */
static void prefer_far_word(struct point_run *b, struct err *e)
{
	struct pollfd p = { b->worker[ROLE_SERVER].reports, POLLIN, 0 };
	struct report_msg m;

	if (poll(&p, 1, FAR_GRACE_MS) > 0 && read(p.fd, &m, sizeof(m)) == sizeof(m) && !m.ok)
		*e = m.err;
}

/* If an end is killed, the other one sometimes complains first. Wait a moment for the death to
 * show: it is the cause. */
static void prefer_death(struct point_run *b, struct err *e)
{
	struct timespec grace = { 0, GRACE_NS };

	if (e->code != EXIT_PEER)
		return;
	if (b->run.plan->remote) {
		prefer_far_word(b, e);
		return;
	}
	nanosleep(&grace, NULL);
	for (int i = 0; i < ROLES; i++) {
		siginfo_t si = {};

		if (b->worker[i].pid <= 0 ||
		    waitid(P_PID, b->worker[i].pid, &si, WEXITED | WNOHANG | WNOWAIT) ||
		    si.si_pid == 0 || si.si_code == CLD_EXITED)
			continue;
		*e = (struct err){};
		worker_died(b, (enum role)i, e);
		return;
	}
}

static int interrupted(struct err *e)
{
	return err_set(e, EXIT_INTERRUPTED, "interrupted: signal %d; both ends were stopped",
		       (int)bench_interrupted);
}

/* Wait for the reports of the roles in `mask`. */
static int await(struct point_run *b, unsigned int mask, uint64_t budget_ns, struct err *e)
{
	uint64_t deadline = now_ns() + budget_ns;
	struct pollfd pfd[ROLES];
	sigset_t none;

	sigemptyset(&none);
	for (int i = 0; i < ROLES; i++)
		pfd[i] = (struct pollfd){ mask & 1u << i ? b->worker[i].reports : -1, POLLIN, 0 };
	while (pfd[0].fd >= 0 || pfd[1].fd >= 0) {
		uint64_t now = now_ns(), left = now < deadline ? deadline - now : 0;
		struct timespec ts = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
		int n;

		if (bench_interrupted)
			return interrupted(e);
		n = ppoll(pfd, ROLES, &ts, &none);
		if (n == 0)
			return err_peer(e,
					"no answer from the %s for %.0f s; give a longer --timeout "
					"or fewer bytes",
					pfd[0].fd >= 0 && pfd[1].fd >= 0 ? "two ends"
					: pfd[0].fd >= 0		 ? "client"
									 : "server",
					(double)budget_ns / 1e9);
		if (n > 0 && one_report(b, pfd, e)) {
			prefer_death(b, e);
			return -1;
		}
	}
	return bench_interrupted ? interrupted(e) : 0;
}

int point_run_order_one(struct point_run *b, enum role role, enum order what, struct err *e)
{
	struct order_msg o = { .order = what };

	if (point_run_order(b, role, &o, e))
		return -1;
	return await(b, 1u << role, (uint64_t)b->run.plan->o.timeout, e);
}

int point_run_order_both(struct point_run *b, const struct order_msg *o, uint64_t budget,
			 struct err *e)
{
	if (point_run_order(b, ROLE_SERVER, o, e) || point_run_order(b, ROLE_CLIENT, o, e))
		return -1;
	return await(b, 3, budget, e);
}

void point_run_reap(struct point_run *b, bool failed)
{
	struct order_msg quit = { .order = ORDER_QUIT };

	for (int i = 0; i < ROLES; i++) {
		struct worker *w = &b->worker[i];

		if (w->pid > 0 && (failed || write(w->orders, &quit, sizeof(quit)) != sizeof(quit)))
			kill(w->pid, SIGKILL);
		close_fd(&w->orders);
		if (w->pid > 0)
			while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
				;
		close_fd(&w->reports);
	}
}
