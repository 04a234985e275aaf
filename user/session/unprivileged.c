// SPDX-License-Identifier: GPL-2.0-only
/* Once everything is attached, a long session gives up root. It continues as another user, with
 * the capabilities that it still needs. */
#include <linux/capability.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/drop.h"
#include "session/session.h"

/* Tried by a child without capabilities. */
static bool reads_without_capabilities(const struct session *l)
{
	struct err e = {};
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(drop_privileges(l->o->user, 0, &e) || !trace_may_read(l->t));
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

#define CAP(name) (UINT64_C(1) << CAP_##name)

/* The sampling thread raises its priority (SYS_NICE), and new sockets are found in /proc/PID/fd. */
static uint64_t capabilities(const struct session *l, bool attaches)
{
	uint64_t keep = l->o->sampled ? CAP(SYS_PTRACE) | CAP(DAC_READ_SEARCH) | CAP(SYS_NICE) : 0;

	if (attaches)
		return keep | CAP(BPF) | CAP(PERFMON);
	return reads_without_capabilities(l) ? keep : keep | CAP(BPF);
}

static int drop(const struct session *l, bool attaches, struct err *e)
{
	if (drop_privileges(l->o->user, capabilities(l, attaches), e))
		return -1;
	return confine(attaches ? MAY_BPF | MAY_PERF : MAY_BPF, e);
}

/* Capabilities and filters belong to each thread, so the session's threads end and start again. */
int session_drop_privileges(struct session *l, bool attaches, struct err *e)
{
	trace_pause(l->t);
	if (drop(l, attaches || trace_attaches_later(l->t), e))
		return -1;
	return trace_resume(l->t, e);
}
