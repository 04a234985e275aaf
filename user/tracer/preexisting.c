// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds what existed before the session. /proc names the descriptors and the sleeping threads of
 * the followed processes, and bpf/preexisting.bpf.h examines each. What cannot be read here is
 * counted, and shows at its first event.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "host/proc.h"
#include "host/thread_call.h"
#include "tracer/internal.h"

struct pids {
	pid_t *v;
	size_t n, room;
};

static bool pids_add(struct pids *p, pid_t pid)
{
	if (!array_grow(&p->v, p->n, &p->room, sizeof(*p->v)))
		return false;
	p->v[p->n++] = pid;
	return true;
}

static bool pids_have(const struct pids *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i] == pid)
			return true;
	return false;
}

static ssize_t read_at(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

/* The fields after the name in brackets, which may contain anything; "": the process is gone. */
static const char *stat_of(pid_t pid, char *buf, size_t size)
{
	ssize_t n = read_at(AT_FDCWD, proc_path(pid, "stat").text, buf, size);
	const char *end = n > 0 ? strrchr(buf, ')') : NULL;

	return end ? end + 1 : "";
}

size_t proc_threads(pid_t pid)
{
	struct stat st;

	/* st_nlink is threads + 2 */
	return stat(proc_path(pid, "task").text, &st) || st.st_nlink < 2 ? 0 : st.st_nlink - 2;
}

static pid_t parent_of(pid_t pid)
{
	char stat[512];
	int parent = 0;

	return sscanf(stat_of(pid, stat, sizeof(stat)), " %*c %d", &parent) == 1 ? parent : 0;
}

uint64_t proc_began(pid_t pid)
{
	char stat[512], state;
	uint64_t ticks;

	return sscanf(stat_of(pid, stat, sizeof(stat)),
		      " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		      "%*s %" SCNu64,
		      &state, &ticks) == 2 &&
			       state != 'Z' && state != 'X'
		       ? ticks
		       : 0;
}

static void add_number(void *ctx, int dir, long n)
{
	pids_add(ctx, (pid_t)n);
}

/* Repeats until nothing is added: a child may have a smaller PID than its parent. */
static void add_descendants(struct pids *out, const struct pids *all)
{
	size_t before;

	do {
		before = out->n;
		for (size_t i = 0; i < all->n; i++)
			if (!pids_have(out, all->v[i]) && pids_have(out, parent_of(all->v[i])))
				pids_add(out, all->v[i]);
	} while (out->n != before);
}

static void add_members(struct pids *out, const char *list)
{
	FILE *f = fopen(list, "re");
	int pid;

	while (f && fscanf(f, "%d", &pid) == 1)
		pids_add(out, pid);
	if (f)
		fclose(f);
}

/* Adds the processes of the cgroup and of all below it. */
static void add_cgroup(struct pids *out, const char *cgroup)
{
	char *const roots[] = { (char *)cgroup, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *at;

	while (walk && (at = fts_read(walk)))
		if (!strcmp(at->fts_name, "cgroup.procs"))
			add_members(out, at->fts_path);
	if (walk)
		fts_close(walk);
}

/* the processes that exist and that the session's filter wants */
static void wanted(const struct trace *t, struct pids *out)
{
	const struct trace_options *o = &t->opts;
	struct pids all = {};

	if (o->filter == TRACE_FILTER_CGROUP) {
		add_cgroup(out, o->cgroup);
		return;
	}
	if (o->filter == TRACE_FILTER_ALL) {
		proc_numbers("/proc", add_number, out);
		return;
	}
	for (size_t i = 0; i < o->n_tgids; i++)
		pids_add(out, o->tgids[i]);
	if (o->filter == TRACE_FILTER_TREE && proc_numbers("/proc", add_number, &all))
		add_descendants(out, &all);
	free(all.v);
}

/* AT_STATX_DONT_SYNC: a remote file server that does not answer must not keep us waiting. */
static bool is_fifo(int dir, const char *fd)
{
	struct statx st;

	return !statx(dir, fd, AT_STATX_DONT_SYNC, STATX_TYPE, &st) && S_ISFIFO(st.stx_mode);
}

uint64_t proc_inode(int dir, long fd)
{
	char name[24], link[64];
	ssize_t n;

	snprintf(name, sizeof(name), "%ld", fd);
	n = readlinkat(dir, name, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	if (link[0] == '/')
		return is_fifo(dir, name) ? SEED_FIFO : 0;
	return text_link_inode(link);
}

struct seeding {
	struct trace *t;
	pid_t pid;
	size_t found; /* when only counting */
	/* of the descriptors of one process: from this one on, or those before it */
	long from;
	bool before;
	struct searched *now;
	bool no_room; /* some process found no room */
};

static enum seeded run_seed(int prog, const uint64_t *args, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = size);

	return bpf_prog_test_run_opts(prog, &o) ? SEED_UNWANTED : o.retval;
}

static void count_fd(void *ctx, int dir, long fd)
{
	struct seeding *s = ctx;

	s->found += proc_inode(dir, fd) != 0;
}

/* Processes with the fewest places come first, so the first one without success has the fewest. */
static void asks_in_vain(struct seeding *s, long fd)
{
	uint32_t *asks = object_var(s->t, "no_room_for");

	if (!s->now->next_fd)
		s->now->next_fd = fd;
	if (!s->no_room && asks)
		__atomic_store_n(asks, (uint32_t)s->pid, __ATOMIC_RELAXED);
	s->no_room = true;
}

static void seed_fd(void *ctx, int dir, long fd)
{
	struct seeding *s = ctx;
	uint64_t args[4] = { s->pid, fd, 0, s->now->waits_for_child };
	enum seeded what;

	if ((fd < s->from) != s->before)
		return;
	args[2] = proc_inode(dir, fd);
	what = args[2] ? run_seed(s->t->seed_fd, args, sizeof(args)) : SEED_UNWANTED;
	s->t->existing.made += what == SEED_MADE;
	s->now->places += what >= SEED_KNOWN;
	if (what == SEED_NO_ROOM)
		asks_in_vain(s, fd);
}

enum { POLLED_TO_READ = 8 /* SEED_POLLED of bpf/preexisting.bpf.h */ };

static enum seeded seed_poller(const struct trace *t, pid_t tid, const struct thread_call *call)
{
	uint64_t args[2 + POLLED_TO_READ] = { (uint64_t)tid };

	args[1] = thread_call_polled(tid, call, args + 2, POLLED_TO_READ);
	return args[1] && args[1] != THREAD_POLLS_UNKNOWN
		       ? run_seed(t->seed_poll, args, sizeof(args))
		       : SEED_UNWANTED;
}

static enum seeded seed_call(const struct trace *t, pid_t tid, const struct thread_call *call)
{
	uint64_t args[] = { (uint64_t)tid, (uint64_t)call->nr, call->args[0], call->args[2] };

	return run_seed(t->seed_call, args, sizeof(args));
}

static void seed_thread(void *ctx, int dir, long tid)
{
	struct seeding *s = ctx;
	struct thread_call call;
	char path[40], text[256];
	enum seeded made;

	snprintf(path, sizeof(path), "%ld/syscall", tid);
	if (read_at(dir, path, text, sizeof(text)) <= 0 || !thread_call_parse(text, &call))
		return;
	made = thread_call_is_poll(&call) ? seed_poller(s->t, (pid_t)tid, &call)
					  : seed_call(s->t, (pid_t)tid, &call);
	s->t->existing.asleep += made == SEED_MADE;
}

static void each_process(struct seeding *s, const struct pids *p, const char *folder,
			 void (*fn)(void *, int, long))
{
	for (size_t i = 0; i < p->n; i++) {
		s->pid = p->v[i];
		if (s->pid != getpid() &&
		    !proc_numbers(proc_path(s->pid, "%s", folder).text, fn, s) && errno == EACCES)
			s->t->existing.unreadable++;
	}
}

size_t preexisting_count(struct trace *t)
{
	struct seeding s = { .t = t };
	struct pids p = {};

	wanted(t, &p);
	each_process(&s, &p, "fd", count_fd);
	free(p.v);
	return s.found;
}

/* --- every descriptor of the processes that are followed --- */

ORDER_BY(by_pid, struct searched, pid)

static int by_places(const void *a, const void *b)
{
	const struct searched *x = a, *y = b;

	return COMPARE(x->waits_for_child, y->waits_for_child) ?:
	       COMPARE(x->places, y->places) ?: COMPARE(x->pid, y->pid);
}

/* A shell or timeout(1) waits for the command that it started, and has that one's descriptors. */
bool proc_waits_for_child(pid_t pid)
{
	struct thread_call call;

	return thread_call_read(pid, pid, &call) == THREAD_IN_CALL &&
	       (call.nr == SYS_wait4 || call.nr == SYS_waitid || call.nr == SYS_rt_sigsuspend) &&
	       proc_threads(pid) == 1;
}

/* Searches a process's descriptors, beginning with the one for which the last search found no
 * room. False: they cannot be read. */
static bool search_process(struct seeding *s, struct searched *p)
{
	struct proc_path fds = proc_path(p->pid, "fd");
	bool readable;

	s->pid = p->pid;
	s->now = p;
	s->from = p->next_fd;
	*p = (struct searched){ .pid = p->pid, .waits_for_child = p->waits_for_child };
	s->before = false;
	readable = proc_numbers(fds.text, seed_fd, s) || errno != EACCES;
	s->before = true;
	if (s->from)
		proc_numbers(fds.text, seed_fd, s);
	return readable;
}

/* Searches the processes, and returns how many cannot be read. Those with the fewest places come
 * first, so that if room is short, one process's many descriptors do not keep out another's few. */
static size_t search(struct trace *t, const struct pids *p)
{
	struct searched *v = array_new(p->n, 1, sizeof(*v)), *then;
	struct seeding s = { .t = t };
	size_t unreadable = 0;

	for (size_t i = 0; v && i < p->n; i++) {
		v[i].pid = p->v[i];
		then = t->searched ? bsearch(&v[i], t->searched, t->n_searched, sizeof(*v), by_pid)
				   : NULL;
		v[i] = then ? *then : v[i];
		v[i].waits_for_child = proc_waits_for_child(v[i].pid);
	}
	if (!v)
		return 0;
	qsort(v, p->n, sizeof(*v), by_places);
	for (size_t i = 0; i < p->n; i++)
		unreadable += v[i].pid != getpid() && !search_process(&s, &v[i]);
	qsort(v, p->n, sizeof(*v), by_pid);
	free(t->searched);
	t->searched = v;
	t->n_searched = p->n;
	return unreadable;
}

/* Searches again. Also names the holders of endpoints that are known already. */
void preexisting_again(struct trace *t)
{
	struct pids p = {};

	wanted(t, &p);
	search(t, &p);
	free(p.v);
}

int preexisting_find(struct trace *t, struct err *e)
{
	struct seeding s = { .t = t };
	struct err failed = {};
	struct pids p = {};
	int err = 0;

	t->existing = (struct trace_existing){};
	wanted(t, &p);
	if (t->opts.filter == TRACE_FILTER_TREE)
		for (size_t i = 0; !err && i < p.n; i++)
			if (trace_follow(t, p.v[i], &failed) && process_lives(p.v[i]))
				err = err_set(e, failed.code, "%s", failed.text);
	if (!err) {
		t->existing.unreadable += search(t, &p);
		if (t->backend != TRACE_SAMPLED) /* samples find who sleeps */
			each_process(&s, &p, "task", seed_thread);
	}
	free(p.v);
	return err;
}
