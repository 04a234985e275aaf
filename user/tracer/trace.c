// SPDX-License-Identifier: GPL-2.0-only
/* The five verbs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tracer/internal.h"

#define ALL_PROTOS ((1u << TRACE_PROTOS) - 2)

int fail(struct trace_error *e, int code, const char *what, const char *why, const char *next)
{
	if (e->code)
		return -1;
	e->code = code;
	snprintf(e->what, sizeof(e->what), "%s", what);
	snprintf(e->why, sizeof(e->why), "%s", why);
	snprintf(e->next, sizeof(e->next), "%s", next);
	return -1;
}

int fail_sys(struct trace_error *e, int err, const char *what, const char *next)
{
	bool perm = err == EPERM || err == EACCES;

	return fail(e, perm ? EXIT_NO_PERM : EXIT_NO_RESOURCE, what, strerror(err), next);
}

static int check_options(const struct trace_options *o, struct trace_error *e)
{
	bool listed = o->filter == TRACE_FILTER_TGIDS || o->filter == TRACE_FILTER_TREE;

	if (o->n_tgids > TRACE_TGIDS)
		return fail(e, EXIT_BAD_USAGE, "too many processes to trace", "at most 8 can be listed", "trace a cgroup");
	if (listed && !o->n_tgids)
		return fail(e, EXIT_BAD_USAGE, "no process to trace", "the filter asks for one", "name a process");
	if (o->filter == TRACE_FILTER_CGROUP && !o->cgroup)
		return fail(e, EXIT_BAD_USAGE, "no cgroup to trace", "the filter asks for one", "name a cgroup v2 directory");
	if (o->port_hi && o->port_hi < o->port_lo)
		return fail(e, EXIT_BAD_USAGE, "bad range of ports", "it ends before it begins", "give the lower port first");
	return 0;
}

/* kernels before 5.11 charge maps to RLIMIT_MEMLOCK; later ones do not care */
static void raise_memlock(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return getenv("IPCSTALL_DEBUG_BPF") ? vfprintf(stderr, fmt, args) : 0;
}

#define FIRST_PID_NAMESPACE 0xEFFFFFFCu	/* PROC_PID_INIT_INO: the inode of the one that is there from boot on */

static bool in_pid_namespace(struct stat *st)
{
	return !stat("/proc/self/ns/pid", st) && st->st_ino != FIRST_PID_NAMESPACE;
}

static struct trace *new_session(const struct trace_options *o)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->opts = *o;
	t->stats_fd = t->settle_fd = t->so_far_fd = -1;
	t->numbered = in_pid_namespace(&t->pidns);
	if (!t->opts.max_endpoints)
		t->opts.max_endpoints = 4096;
	if (!t->opts.max_closed)
		t->opts.max_closed = 32768;
	if (!t->opts.protos)
		t->opts.protos = ALL_PROTOS;
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

static int open_cgroup(struct trace *t, struct trace_error *e)
{
	int fd;

	if (t->opts.filter != TRACE_FILTER_CGROUP)
		return -1;
	fd = open(t->opts.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail_sys(e, errno, "cannot trace the cgroup", "name a directory below /sys/fs/cgroup");
	return fd;
}

/* the kernel holds the group by its directory's descriptor: one that goes meanwhile, and comes again, is another */
static int follow_cgroup(struct trace *t, struct trace_error *e)
{
	struct bpf_map *map = bpf_object__find_map_by_name(t->obj, "group");
	int fd = open_cgroup(t, e), rc = 0;
	__u32 first = 0;

	if (t->opts.filter != TRACE_FILTER_CGROUP)
		return 0;
	if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(map), &first, &fd, BPF_ANY))
		rc = errno == EBADF ? fail(e, EXIT_BAD_USAGE, "cannot trace the cgroup", "it is no directory of the cgroup v2 hierarchy", "name one") :
				      fail_sys(e, errno, "cannot trace the cgroup", "free some memory");
	if (fd < 0)
		return -1;
	close(fd);
	return rc;
}

static int choose_backend(struct trace *t, struct trace_error *e)
{
	const char *why = "";

	t->backend = t->opts.backend ? t->opts.backend : trace_best_backend(&why);
	snprintf(t->why, sizeof(t->why), "%s", why);
	if (!t->backend && strstr(why, "CAP_BPF"))	/* a privilege is missing, not a feature */
		return fail(e, EXIT_NO_PERM, "cannot trace", why, "run as root, or with these capabilities");
	if (!t->backend)
		return fail(e, EXIT_NO_FEATURE, "cannot trace on this kernel", why,
			    "`ipcstall check` says what would mend it; a benchmark measures without it (--no-trace)");
	return 0;
}

static int follow_listed(struct trace *t, struct trace_error *e)
{
	if (t->opts.filter != TRACE_FILTER_TREE && !(t->numbered && t->opts.filter == TRACE_FILTER_TGIDS))
		return 0;
	for (size_t i = 0; i < t->opts.n_tgids; i++)
		if (trace_follow(t, t->opts.tgids[i], e))
			return -1;
	return 0;
}

static int open_ring(struct trace *t, struct trace_error *e)
{
	t->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(t->obj, "records"), on_record, t, NULL);
	return t->ring ? 0 : fail_sys(e, errno, "cannot open the ring buffer", "free some memory");
}

struct trace *trace_prepare(const struct trace_options *o, struct trace_error *e)
{
	struct trace *t;

	memset(e, 0, sizeof(*e));
	if (check_options(o, e))
		return NULL;
	libbpf_set_print(quiet);
	raise_memlock();
	t = new_session(o);
	if (!t) {
		fail_sys(e, ENOMEM, "cannot prepare tracing", "free some memory");
		return NULL;
	}
	if (t->opts.existing)	/* room beside them for what is new */
		t->opts.max_endpoints += preexisting_count(t);
	if (choose_backend(t, e) || object_load(t, e) || follow_cgroup(t, e) || follow_listed(t, e) || open_ring(t, e)) {
		trace_finish(t);
		return NULL;
	}
	return t;
}

int trace_poll(struct trace *t, int timeout_ms)
{
	int n;

	pthread_mutex_lock(&t->lock);
	n = ring_buffer__poll(t->ring, timeout_ms);
	pthread_mutex_unlock(&t->lock);
	return n;
}

#define SETTLE_EVERY_NS (600 * 1000000000ull)
_Static_assert(SPLIT_NS == TRACE_SPLIT_NS, "trace.h says otherwise");
_Static_assert(SPLIT_NS + 2 * SETTLE_EVERY_NS < 1ull << (SINCE_BITS - 1), "a state may last until its beginning is not known any more");

/* the ring must not fill, nor a state last too long, while nobody asks for a snapshot */
static void *collect(void *arg)
{
	struct timespec nap = { .tv_nsec = 20 * 1000 * 1000 };
	uint64_t settled = snapshot_now();
	struct trace *t = arg;

	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&t->lock);
		ring_buffer__consume(t->ring);
		if (snapshot_now() - settled > SETTLE_EVERY_NS) {
			snapshot_settle(t);
			settled = snapshot_now();
		}
		stacks_tend(t);
		pthread_mutex_unlock(&t->lock);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

int trace_start(struct trace *t, struct trace_error *e)
{
	memset(e, 0, sizeof(*e));
	t->stop = false;
	if (object_attach(t, e))
		return -1;
	if (pthread_create(&t->thread, NULL, collect, t)) {
		object_detach(t);
		return fail_sys(e, EAGAIN, "cannot start the collecting thread", "raise the limit of processes");
	}
	t->running = true;
	return t->opts.existing ? preexisting_find(t, e) : 0;
}

int trace_snapshot(struct trace *t, struct trace_snapshot *s, struct trace_error *e)
{
	int err;

	memset(e, 0, sizeof(*e));
	memset(s, 0, sizeof(*s));
	pthread_mutex_lock(&t->lock);
	err = snapshot_fill(t, s, e);
	pthread_mutex_unlock(&t->lock);
	if (err)
		trace_snapshot_free(s);
	return err;
}

void trace_snapshot_free(struct trace_snapshot *s)
{
	free(s->ep);
	free(s->rest);
	s->ep = s->rest = NULL;
	s->n = 0;
}

int trace_stop(struct trace *t, struct trace_error *e)
{
	memset(e, 0, sizeof(*e));
	object_detach(t);
	if (t->running) {
		__atomic_store_n(&t->stop, true, __ATOMIC_RELAXED);
		pthread_join(t->thread, NULL);
		t->running = false;
	}
	return 0;
}

void trace_tell_ongoing(struct trace *t, uint64_t at_ns)
{
	if (t->so_far_fd < 0)
		return;
	pthread_mutex_lock(&t->lock);
	snapshot_tell_ongoing(t, at_ns);
	pthread_mutex_unlock(&t->lock);
}

void trace_finish(struct trace *t)
{
	struct trace_error e;

	if (!t)
		return;
	trace_stop(t, &e);
	ring_buffer__free(t->ring);
	object_close(t);
	if (t->stats_fd >= 0)
		close(t->stats_fd);
	free(t->closed.ep);
	free(t->closed.rest);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void closed_forget_shown(struct closed_list *l)
{
	if (l->n > l->shown)
		memmove(l->ep, l->ep + l->shown, (l->n - l->shown) * sizeof(*l->ep));
	l->n -= l->shown;
	l->shown = 0;
}

void trace_forget_closed(struct trace *t)
{
	pthread_mutex_lock(&t->lock);
	closed_forget_shown(&t->closed);
	pthread_mutex_unlock(&t->lock);
}

/* the number by which the hooks know a process; its own where nobody is in a PID namespace */
static __u32 number_of(struct trace *t, pid_t tgid)
{
	uint64_t args[1] = { tgid };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (!t->numbered)
		return tgid;
	return bpf_prog_test_run_opts(t->number_fd, &o) ? 0 : o.retval;
}

int trace_follow(struct trace *t, pid_t tgid, struct trace_error *e)
{
	__u32 *hint = object_var(t, "tgid_hint");
	unsigned char one = 1;
	int fd = bpf_object__find_map_fd_by_name(t->obj, "followed");
	__u32 key = number_of(t, tgid);

	if (!key)
		return fail(e, EXIT_NO_RESOURCE, "cannot follow the process", "it has gone, or this kernel does not tell its number outside "
			    "this PID namespace", "trace a cgroup instead, or from outside the container");
	if (!hint || bpf_map_update_elem(fd, &key, &one, BPF_ANY))
		return fail_sys(e, errno, "cannot follow the process", "trace a cgroup instead");
	hint[key % TGID_HINTS] = hint[key % TGID_HINTS] ? ~0u : key; /* more than one: the programs ask the map */
	return 0;
}

void trace_timeline_of(struct trace *t, uint64_t serial)
{
	uint64_t *whose = object_var(t, "timeline_serial");

	if (whose)
		__atomic_store_n(whose, serial, __ATOMIC_RELAXED);
}

enum trace_backend trace_backend(const struct trace *t)
{
	return t->backend;
}

const char *trace_why(const struct trace *t)
{
	return t->why;
}

const char *trace_object(const struct trace *t)
{
	return t->object;
}

void trace_backend_text(const struct trace *t, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s%s%s", trace_backend_name(t->backend), t->why[0] ? "; no better one here: " : "", t->why);

	if (t->refused && n >= 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, "; this kernel refused %s: slower programs run (%s); IPCSTALL_DEBUG_BPF=1 shows why", t->refused, t->object);
}

int trace_cost_enable(struct trace *t, struct trace_error *e)
{
	memset(e, 0, sizeof(*e));
	t->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return t->stats_fd < 0 ? fail_sys(e, errno, "cannot count the cost of the programs", "run as root") : 0;
}

static bool read_cost(struct bpf_program *p, struct trace_cost *c)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_program__fd(p);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return false;
	snprintf(c->name, sizeof(c->name), "%s", bpf_program__name(p));
	c->runs = info.run_cnt;
	c->ns = info.run_time_ns;
	c->missed = info.recursion_misses;
	return true;
}

size_t trace_costs(struct trace *t, struct trace_cost *c, size_t max)
{
	struct bpf_program *p;
	size_t n = 0;

	bpf_object__for_each_program(p, t->obj)
		if (n < max && bpf_program__autoload(p) && read_cost(p, &c[n]))
			n++;
	return n;
}

static int64_t runs_of(struct trace *t, const char *program)
{
	struct bpf_program *p = t->stats_fd < 0 ? NULL : bpf_object__find_program_by_name(t->obj, program);
	struct trace_cost c;

	return p && read_cost(p, &c) ? (int64_t)c.runs : -1;
}

size_t trace_hooks(struct trace *t, struct trace_hook *h, size_t max)
{
	size_t n = t->n_at < max ? t->n_at : max;

	for (size_t i = 0; i < n; i++) {
		const struct attached *a = &t->at[i];

		h[i] = (struct trace_hook){ a->hooked && *a->point ? a->point : a->hook->point, hook_kind_name(a->hook->kind), a->hook->feeds,
					    a->hooked, a->hooked ? NULL : a->why_not, a->hook->program, runs_of(t, a->hook->program) };
	}
	return n;
}
