// SPDX-License-Identifier: GPL-2.0-only
/* The session: prepare, start, snapshot, stop, finish. */
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

static int check_options(const struct trace_options *o, struct err *e)
{
	bool listed = o->filter == TRACE_FILTER_TGIDS || o->filter == TRACE_FILTER_TREE;

	if (o->n_tgids > TRACE_TGIDS)
		return err_usage(e, "too many processes to trace: there is no room to list so "
				    "many; trace a cgroup");
	if (listed && !o->n_tgids)
		return err_usage(e, "no process to trace: the filter asks for one; name a process");
	if (o->filter == TRACE_FILTER_CGROUP && !o->cgroup)
		return err_usage(
			e,
			"no cgroup to trace: the filter asks for one; name a cgroup v2 directory");
	if (o->budget > 0 && (o->stall_threshold_ns || o->stacks || o->timeline))
		return err_usage(
			e, "cannot sample single stalls: samples see no single stall; use --exact");
	if (o->port_hi && o->port_hi < o->port_lo)
		return err_usage(
			e,
			"bad range of ports: it ends before it begins; give the lower port first");
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
	return feature_debugs() ? vfprintf(stderr, fmt, args) : 0;
}

#define FIRST_PID_NAMESPACE \
	0xEFFFFFFCu /* PROC_PID_INIT_INO: the inode of the machine's first PID namespace */

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
	t->stats_fd = t->settle_fd = t->so_far_fd = t->listening_fd = t->settle_listener = -1;
	t->evict_fd = -1;
	t->numbered = in_pid_namespace(&t->pidns);
	t->opts.samples |= o->budget > 0;
	if (!t->opts.max_endpoints)
		t->opts.max_endpoints = 4096;
	if (!t->opts.max_closed)
		t->opts.max_closed = 32768;
	if (!t->opts.protos)
		t->opts.protos = ALL_PROTOS;
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->listing, NULL);
	return t;
}

static int open_cgroup(struct trace *t, struct err *e)
{
	int fd;

	if (t->opts.filter != TRACE_FILTER_CGROUP)
		return -1;
	fd = open(t->opts.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail_sys(e, errno, "cannot trace the cgroup",
			 "name a directory below /sys/fs/cgroup");
	return fd;
}

/* The kernel holds the cgroup by its directory's descriptor: a cgroup that is removed and made
 * again under the same name is another one. */
static int follow_cgroup(struct trace *t, struct err *e)
{
	struct bpf_map *map = bpf_object__find_map_by_name(t->obj, "group");
	int fd = open_cgroup(t, e), rc = 0;
	__u32 first = 0;

	if (t->opts.filter != TRACE_FILTER_CGROUP)
		return 0;
	if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(map), &first, &fd, BPF_ANY))
		rc = errno == EBADF
			     ? err_usage(e, "cannot trace the cgroup: it is no directory of the "
					    "cgroup v2 hierarchy; name one")
			     : fail_sys(e, errno, "cannot trace the cgroup", "free some memory");
	if (fd < 0)
		return -1;
	close(fd);
	return rc;
}

static int choose_backend(struct trace *t, struct err *e)
{
	const char *why = "";

	t->backend =
		t->opts.backend && t->opts.budget <= 0 ? t->opts.backend : trace_best_backend(&why);
	snprintf(t->why, sizeof(t->why), "%s", why);
	if (!t->backend && strstr(why, "CAP_BPF")) /* a privilege is missing, not a feature */
		return err_perm(e, "cannot trace: %s; run as root, or with these capabilities",
				why);
	if (!t->backend)
		return err_feature(e,
				   "cannot trace on this kernel: %s; `ipcstall check` shows how to "
				   "fix it; a benchmark can run without it (--no-trace)",
				   why);
	if (t->opts.budget > 0) {
		t->backend = TRACE_SAMPLED;
		t->why[0] = '\0';
	}
	return 0;
}

static int follow_listed(struct trace *t, struct err *e)
{
	bool in_options = !t->numbered && t->opts.n_tgids <= FILTER_TGIDS;

	if (t->opts.filter != TRACE_FILTER_TREE &&
	    (t->opts.filter != TRACE_FILTER_TGIDS || in_options))
		return 0;
	for (size_t i = 0; i < t->opts.n_tgids; i++)
		if (trace_follow(t, t->opts.tgids[i], e))
			return -1;
	return 0;
}

static int open_ring(struct trace *t, struct err *e)
{
	t->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(t->obj, "records"), on_record, t,
				   NULL);
	return t->ring ? 0 : fail_sys(e, errno, "cannot open the ring buffer", "free some memory");
}

struct trace *trace_prepare(const struct trace_options *o, struct err *e)
{
	struct trace *t;

	if (check_options(o, e))
		return NULL;
	libbpf_set_print(quiet);
	raise_memlock();
	t = new_session(o);
	if (!t) {
		fail_sys(e, ENOMEM, "cannot prepare tracing", "free some memory");
		return NULL;
	}
	if (t->opts.existing) /* max_endpoints is the room for new ones */
		t->opts.max_endpoints += preexisting_count(t);
	if (choose_backend(t, e) || object_load(t, e) || follow_cgroup(t, e) ||
	    follow_listed(t, e) || open_ring(t, e)) {
		trace_finish(t);
		t = NULL;
	}
	feature_forget_types();
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
_Static_assert(SPLIT_NS + 2 * SETTLE_EVERY_NS < 1ull << (SINCE_BITS - 1),
	       "a state may last until its beginning is not known any more");

/* While nobody takes a snapshot, the ring must not fill, and no state may last too long
 * unsettled. */
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
		if (t->backend != TRACE_SAMPLED || sampler_will_find(t))
			eviction_tend(t);
		stacks_tend(t);
		object_attach_late(t);
		sampler_finds(t);
		pthread_mutex_unlock(&t->lock);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static int start_collecting(struct trace *t, struct err *e)
{
	t->stop = false;
	if (pthread_create(&t->thread, NULL, collect, t))
		return fail_sys(e, EAGAIN, "cannot start the collecting thread",
				"raise the limit of processes");
	t->running = true;
	return 0;
}

static void stop_collecting(struct trace *t)
{
	if (!t->running)
		return;
	__atomic_store_n(&t->stop, true, __ATOMIC_RELAXED);
	pthread_join(t->thread, NULL);
	t->running = false;
}

int trace_start(struct trace *t, struct err *e)
{
	if (object_attach(t, e))
		return -1;
	if (start_collecting(t, e)) {
		object_detach(t);
		return -1;
	}
	if (t->opts.existing && preexisting_find(t, e))
		return -1;
	return t->backend == TRACE_SAMPLED ? sampler_start(t, e) : 0;
}

void trace_stop(struct trace *t)
{
	sampler_stop(t);
	object_detach(t);
	stop_collecting(t);
}

void trace_pause(struct trace *t)
{
	sampler_stop(t);
	stop_collecting(t);
}

int trace_resume(struct trace *t, struct err *e)
{
	if (start_collecting(t, e))
		return -1;
	return t->backend == TRACE_SAMPLED ? sampler_start(t, e) : 0;
}

bool trace_may_read(const struct trace *t)
{
	uint64_t key;

	return !bpf_map_get_next_key(t->keys_fd, NULL, &key) || errno == ENOENT;
}

bool trace_attaches_later(const struct trace *t)
{
	return t->ends_unseen;
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
	if (!t)
		return;
	trace_stop(t);
	sampler_free(t);
	ring_buffer__free(t->ring);
	object_close(t);
	if (t->stats_fd >= 0)
		close(t->stats_fd);
	free(t->searched);
	reader_cpu_free(t);
	pipe_holders_free(t);
	free(t->closed.ep);
	free(t->closed.rest);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->listing);
	free(t);
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

bool trace_refusal(const struct trace *t, char *buf, size_t size)
{
	if (t->refused)
		snprintf(buf, size,
			 "this kernel refused %s: slower programs run (%s); IPCSTALL_DEBUG_BPF=1 "
			 "shows why",
			 t->refused, t->object);
	return t->refused;
}
