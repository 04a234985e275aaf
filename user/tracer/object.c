// SPDX-License-Identifier: GPL-2.0-only
/* The BPF object of a session: chosen, given its options, loaded, attached. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/array.h"
#include "tracer/internal.h"
#include "fentry.skel.h"
#include "fentry_probed.skel.h"
#include "kprobe.skel.h"
#include "kprobe_probed.skel.h"
#include "rawtp.skel.h"
#include "sampled.skel.h"
#include "sampled_probed.skel.h"

static bool has_casts(void)
{
	return feature_func("bpf_rdonly_cast");
}

/* For each backend the best object first: the next one is slower, and needs less of the kernel. */
static const struct object_source {
	enum trace_backend backend;
	const char *name;
	const void *(*bytes)(size_t *size);
	bool (*meant_for)(void); /* is it meant for this kernel? NULL: for all */
} sources[] = {
	{ TRACE_FENTRY, "fentry", fentry__elf_bytes, has_casts },
	{ TRACE_FENTRY, "fentry_probed", fentry_probed__elf_bytes, NULL },
	{ TRACE_KPROBE, "kprobe", kprobe__elf_bytes, has_casts },
	{ TRACE_KPROBE, "kprobe_probed", kprobe_probed__elf_bytes, NULL },
	{ TRACE_RAWTP, "rawtp", rawtp__elf_bytes, NULL },
	{ TRACE_SAMPLED, "sampled", sampled__elf_bytes, has_casts },
	{ TRACE_SAMPLED, "sampled_probed", sampled_probed__elf_bytes, NULL },
};

/* The resolution of a coarse clock is one tick. */
static uint64_t tick_ns(void)
{
	struct timespec t;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &t)
		       ? 10000000
		       : (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* what may come between two readings, one every 20 ms */
#define TIMELINE_RING (1u << 24) /* 300,000 steps */
#define LEDGER_RING   (1u << 23) /* 2,500 endpoints that close */
#define SAMPLED_RING  (1u << 22) /* 1,200 of them */
#define SMALL_RING    (1u << 20) /* 300 */

static unsigned int ring_bytes(const struct trace *t)
{
	if (t->opts.timeline == TRACE_TIMELINE_ALL)
		return TIMELINE_RING;
	if (t->backend == TRACE_SAMPLED)
		return SAMPLED_RING;
	return t->opts.small_ring ? SMALL_RING : LEDGER_RING;
}

static void set_options(struct trace *t, struct options *o)
{
	const struct trace_options *u = &t->opts;

	o->filter = u->filter;
	for (size_t i = 0; !t->numbered && i < u->n_tgids && i < FILTER_TGIDS; i++)
		o->tgids[i] = u->tgids[i];
	o->pidns_dev = t->numbered ? t->pidns.st_dev : 0;
	o->pidns_ino = t->numbered ? t->pidns.st_ino : 0;
	o->port_lo = u->port_lo;
	o->port_hi = u->port_hi ? u->port_hi : u->port_lo;
	o->stacks = u->stacks;
	o->copies = u->stack_copies || (u->stacks && feature_debugs());
	o->timeline = u->timeline;
	o->protos = u->protos;
	o->hashed = t->hashed;
	o->stall_threshold = u->stall_threshold_ns;
	o->ring_bytes = ring_bytes(t);
	o->tick = tick_ns();
	o->switch_state = feature_args("sched_switch") >= 4;
	o->drop_args = feature_drop_args();
	o->retransmit_args = feature_args("tcp_retransmit_skb");
	o->dgram_sock = feature_func("__unix_dgram_recvmsg");
	o->recv_args = feature_func_args("tcp_recvmsg");
	o->fn_delack = feature_symbol("tcp_delack_timer");
	o->fn_write = feature_symbol("tcp_write_timer");
}

/* only objects of the sampled tier have this constant */
static void set_sleepers(struct trace *t)
{
	struct sleeper_functions *f = object_const(t->obj, "sleeper_functions");

	if (!f)
		return;
	f->woken = feature_symbol("woken_wake_function");
	f->autoremove = feature_symbol("autoremove_wake_function");
	f->receiver = feature_symbol("receiver_wake_function");
	f->poll = feature_symbol("pollwake");
}

/* Maps that only trace_digests_take() needs are made only if it is wanted; not every object has
 * them. */
static int look_sizes(struct trace *t, unsigned int n)
{
	struct bpf_map *keys = bpf_object__find_map_by_name(t->obj, "keys_in_use");
	struct bpf_map *digests = bpf_object__find_map_by_name(t->obj, "digests");

	if (!keys || !digests)
		return 0;
	return bpf_map__set_autocreate(keys, t->opts.samples) ||
	       bpf_map__set_autocreate(digests, t->opts.samples) ||
	       bpf_map__set_max_entries(keys, n);
}

static int map_size(struct trace *t, const char *name, unsigned int n)
{
	struct bpf_map *map = bpf_object__find_map_by_name(t->obj, name);

	return map ? bpf_map__set_max_entries(map, n) : -1;
}

#define PLACES_MOST 16384u /* endpoints in the array; 56 MB */

/* The hash of a large session takes memory as it fills, if the kernel has bpf_mem_alloc (6.1):
 * before that, it would call kmalloc() from within the traced code. */
static int room_in_hash(struct trace *t, unsigned int n)
{
	struct bpf_map *map = bpf_object__find_map_by_name(t->obj, "hashed");

	if (t->hashed && feature_func("bpf_mem_alloc_init"))
		bpf_map__set_map_flags(map, BPF_F_NO_PREALLOC);
	return map_size(t, "hashed", n);
}

static int map_sizes(struct trace *t)
{
	unsigned int n = t->opts.max_endpoints, placed = n > PLACES_MOST ? 1 : n;

	t->hashed = n > PLACES_MOST;
	return map_size(t, "records", ring_bytes(t)) || map_size(t, "endpoints", placed) ||
	       map_size(t, "places", placed) || map_size(t, "vacant", placed) ||
	       room_in_hash(t, t->hashed ? n : 1) || map_size(t, "tuples", 2 * n) ||
	       look_sizes(t, n) || stacks_size(t);
}

/* programs that user space runs, not an event */
static bool runs_on_demand(const struct trace *t, const char *program)
{
	if (!strncmp(program, "seed_", 5))
		return t->opts.existing;
	if (!strcmp(program, "global_number"))
		return t->numbered;
	if (!strcmp(program, "stall_so_far"))
		return t->opts.stall_threshold_ns;
	if (t->backend == TRACE_SAMPLED &&
	    (!strcmp(program, "sample_endpoints") || !strcmp(program, "settle_sampled")))
		return true;
	if (!strcmp(program, "settle_listener"))
		return t->opts.protos & 1u << TRACE_TCP;
	return !strcmp(program, "settle") || !strcmp(program, "evict") ||
	       (t->opts.samples && (!strcmp(program, "list_keys") || !strcmp(program, "digest")));
}

/* load only what this session attaches: the rest need not pass the verifier */
static void choose_programs(struct trace *t)
{
	struct bpf_program *p;

	bpf_object__for_each_program (p, t->obj)
		bpf_program__set_autoload(p, runs_on_demand(t, bpf_program__name(p)));
	for (size_t i = 0; i < t->n_at; i++) {
		p = bpf_object__find_program_by_name(t->obj, t->at[i].hook->program);
		if (!p || t->at[i].why_not[0])
			continue;
		bpf_program__set_autoload(p, true);
		if (t->at[i].hook->kind == HOOK_FENTRY || t->at[i].hook->kind == HOOK_FEXIT)
			bpf_program__set_attach_target(p, 0, t->at[i].point);
	}
}

static bool tracepoint_exists(const char *point)
{
	char name[128];

	if (!strncmp(point, "sys_", 4)) /* some kernels have no typedef for these */
		return true;
	snprintf(name, sizeof(name), "btf_trace_%s", point);
	return feature_typedef(name);
}

/* the first of the hook's points that this kernel has */
static bool choose_point(struct attached *a)
{
	char points[128], *save, *p;

	snprintf(points, sizeof(points), "%s", a->hook->point);
	for (p = strtok_r(points, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		if (!(a->hook->kind == HOOK_RAWTP ? tracepoint_exists(p) : feature_func(p)))
			continue;
		snprintf(a->point, sizeof(a->point), "%s", p);
		return true;
	}
	snprintf(a->why_not, sizeof(a->why_not), "this kernel has no %s to hook", a->hook->point);
	return false;
}

static bool has_place(const struct hook *h)
{
	if (!h->given)
		return true;
	return *h->given == '!' ? !tracepoint_exists(h->given + 1) : tracepoint_exists(h->given);
}

static int list_hooks(struct trace *t, struct err *e)
{
	t->at = array_new(hook_count, 0, sizeof(*t->at));
	if (!t->at)
		return fail_sys(e, ENOMEM, "cannot prepare tracing", "free some memory");
	for (size_t i = 0; i < hook_count; i++) {
		const struct hook *h = &hook_table[i];
		struct attached *a = &t->at[t->n_at];

		if (h->backend != t->backend || (h->protos && !(h->protos & t->opts.protos)) ||
		    !has_place(h))
			continue;
		a->hook = h;
		if (!choose_point(a) && h->required)
			return err_feature(e,
					   "cannot trace with this backend: %s; choose another "
					   "--backend, or a newer kernel",
					   a->why_not);
		t->n_at++;
	}
	return 0;
}

static int program_fd(struct trace *t, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->obj, name);

	return p ? bpf_program__fd(p) : -1;
}

/* every place is vacant: see bpf/endpoint_table.bpf.h */
static int list_vacant(struct trace *t)
{
	int fd = bpf_object__find_map_fd_by_name(t->obj, "vacant"), err = 0;

	for (unsigned int i = 0; !t->hashed && i < t->opts.max_endpoints && !err; i++)
		err = bpf_map_update_elem(fd, NULL, &i, BPF_ANY);
	return err;
}

static int find_fds(struct trace *t)
{
	t->endpoints_fd =
		bpf_object__find_map_fd_by_name(t->obj, t->hashed ? "hashed" : "endpoints");
	t->keys_fd =
		t->hashed ? t->endpoints_fd : bpf_object__find_map_fd_by_name(t->obj, "places");
	t->settle_fd = program_fd(t, t->backend == TRACE_SAMPLED ? "settle_sampled" : "settle");
	t->so_far_fd = program_fd(t, "stall_so_far");
	t->settle_listener = program_fd(t, "settle_listener");
	t->evict_fd = program_fd(t, "evict");
	t->listening_fd = bpf_object__find_map_fd_by_name(t->obj, "listening");
	t->seed_fd = program_fd(t, "seed_fd");
	t->seed_call = program_fd(t, "seed_call");
	t->seed_poll = program_fd(t, "seed_poll");
	t->number_fd = program_fd(t, "global_number");
	if (t->endpoints_fd < 0 || t->keys_fd < 0 || list_vacant(t) || object_map_vars(t))
		return -1;
	t->opts.samples = t->opts.samples && digest_map(t);
	return 0;
}

/* EPERM: a privilege is missing. EACCES and EINVAL come from the verifier. */
static int load_failed(const struct trace *t, struct err *e, int err)
{
	const char *locked = feature_locked(t->backend);

	if (err == -EACCES || err == -EINVAL)
		return err_set(e, EXIT_BUG,
			       "cannot load the tracing programs: this kernel's verifier rejects "
			       "them, which no kernel since 6.1 should do; choose another "
			       "--backend, and report it with the output of `ipcstall check`");
	if (err == -EPERM && locked)
		return err_feature(e,
				   "cannot load the tracing programs: %s; use --backend rawtp or "
				   "auto; `ipcstall check` shows what this kernel allows",
				   locked);
	if (err == -EPERM)
		return err_perm(
			e,
			"cannot load the tracing programs: %s; run as root, or with CAP_BPF and "
			"CAP_PERFMON; `ipcstall check` shows what this kernel allows",
			strerror(-err));
	return err_set(e, err == -EMFILE ? EXIT_NO_RESOURCE : EXIT_NO_FEATURE,
		       "cannot load the tracing programs: %s; %s", strerror(-err),
		       err_remedy(-err, "`ipcstall check` shows what this kernel allows; a "
					"benchmark can run without them (--no-trace)"));
}

static void tabulate_states(unsigned char (*states)[FACETS])
{
	for (unsigned int i = 0; i < FACETS; i++) {
		states[DIR_TX][i] = tx_state((word_t)i << HEAD_SHIFT);
		states[DIR_RX][i] = rx_state((word_t)i << HEAD_SHIFT);
	}
}

static void tabulate_slots(unsigned char *slots)
{
	for (unsigned int i = 0; i < SLOTS_TABLED; i++)
		slots[i] = hist_slot((ns_t)i << HIST_BASE);
}

/* Opens an object and sets its options, before it is loaded into the kernel. */
static int open_source(struct trace *t, const struct object_source *src, struct err *e)
{
	LIBBPF_OPTS(bpf_object_open_opts, o, .object_name = "ipcstall");
	unsigned char(*states)[FACETS], *slots;
	struct options *opt;
	const void *bytes;
	size_t size;

	bytes = src->bytes(&size);
	t->obj = bpf_object__open_mem(bytes, size, &o);
	if (!t->obj)
		return fail_sys(e, errno, "cannot open the tracing programs", "free some memory");
	opt = object_const(t->obj, "opt");
	states = object_const(t->obj, "state_of");
	slots = object_const(t->obj, "slot_of");
	if (!opt || !states || !slots || map_sizes(t))
		return err_set(e, EXIT_BUG,
			       "cannot set the options of the tracing programs: the object is from "
			       "another build; run make clean, and build again");
	set_options(t, opt);
	tabulate_states(states);
	tabulate_slots(slots);
	set_sleepers(t);
	choose_programs(t);
	return 0;
}

/* most of the time that a session takes to start goes into verification */
static void tell_verified(const struct trace *t)
{
	struct bpf_program *p;
	unsigned long long instructions = 0;
	int n = 0;

	bpf_object__for_each_program(p, t->obj) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (bpf_program__fd(p) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size))
			continue;
		instructions += info.verified_insns;
		n++;
	}
	fprintf(stderr, "ipcstall: %llu instructions were verified in %d programs\n", instructions,
		n);
}

static int load_first(struct trace *t, struct err *e)
{
	int err = -ENOENT;

	t->refused = NULL;
	for (size_t i = 0; err && i < sizeof(sources) / sizeof(sources[0]); i++) {
		const struct object_source *src = &sources[i];

		if (src->backend != t->backend || (src->meant_for && !src->meant_for()))
			continue;
		bpf_object__close(t->obj);
		if (open_source(t, src, e))
			return -1;
		err = bpf_object__load(t->obj);
		t->object = src->name;
		if (err && !t->refused)
			t->refused = src->name;
	}
	if (!err && feature_debugs())
		tell_verified(t);
	return err ? load_failed(t, e, err) : 0;
}

/* If a kernel takes the hooks but not the programs for trace_digests_take(), it traces without
 * those. */
static int load_or_plainer(struct trace *t, struct err *e)
{
	struct err first = {};

	t->opts.samples = t->opts.samples && feature_func("bpf_for_each_map_elem");
	if (!t->opts.samples)
		return load_first(t, e);
	if (load_first(t, &first) == 0)
		return 0;
	t->opts.samples = false;
	return load_first(t, e);
}

int object_load(struct trace *t, struct err *e)
{
	if (list_hooks(t, e) || load_or_plainer(t, e))
		return -1;
	if (find_fds(t))
		return err_set(e, EXIT_BUG,
			       "cannot find the ledger's maps: the object is from another build; "
			       "run make clean, and build again");
	if (t->backend == TRACE_SAMPLED && !t->opts.samples)
		return err_feature(e,
				   "cannot sample: BPF programs of this kernel cannot walk a map, "
				   "or cannot share one with user space (5.13 can); use --exact");
	return 0;
}

static struct bpf_link *attach_one(struct bpf_program *p, const struct attached *a)
{
	switch (a->hook->kind) {
	case HOOK_RAWTP: return bpf_program__attach_raw_tracepoint(p, a->point);
	case HOOK_FENTRY:
	case HOOK_FEXIT: return bpf_program__attach_trace(p);
	default: return bpf_program__attach_kprobe(p, a->hook->kind == HOOK_KRETPROBE, a->point);
	}
}

static int attach_failed(struct attached *a, int err, struct err *e)
{
	snprintf(a->why_not, sizeof(a->why_not), "%s %s: %s", hook_kind_name(a->hook->kind),
		 a->hook->point, strerror(err));
	if (!a->hook->required)
		return 0;
	return err_set(e, err == EPERM ? EXIT_NO_PERM : EXIT_NO_FEATURE,
		       "cannot attach a tracing program: %s; `ipcstall check` says what this "
		       "kernel allows",
		       a->why_not);
}

/* every hook of this part of the table */
static int attach_part(struct trace *t, enum hook_part part, struct err *e)
{
	for (size_t i = 0; i < t->n_at; i++) {
		struct attached *a = &t->at[i];
		struct bpf_program *p = bpf_object__find_program_by_name(t->obj, a->hook->program);

		if (a->hook->part != part || a->why_not[0] || !p)
			continue;
		a->link = attach_one(p, a);
		a->hooked = a->link;
		if (!a->link && attach_failed(a, errno, e))
			return -1;
	}
	return 0;
}

#define NOT_NEEDED "not needed so far: every call whose beginning was seen was also seen to end"

static void wait_for_need(struct trace *t)
{
	for (size_t i = 0; i < t->n_at; i++)
		if (t->at[i].hook->part == PART_LATE) {
			snprintf(t->at[i].why_not, sizeof(t->at[i].why_not), NOT_NEEDED);
			t->ends_unseen = object_var(t, "ends_unseen");
		}
}

/* called again and again during the session */
void object_attach_late(struct trace *t)
{
	if (!t->ends_unseen || !__atomic_load_n(t->ends_unseen, __ATOMIC_RELAXED))
		return;
	t->ends_unseen = NULL;
	for (size_t i = 0; i < t->n_at; i++)
		if (t->at[i].hook->part == PART_LATE)
			t->at[i].why_not[0] = '\0';
	attach_part(t, PART_LATE, &(struct err){});
}

/* Are all exact hooks of this session attached? */
static bool sees_exactly(const struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_at; i++) {
		if (t->at[i].hook->part != PART_EXACT)
			continue;
		if (!t->at[i].hooked)
			return false;
		n++;
	}
	return n > 0;
}

/* Marks of the timeline and the proof of a stall need single segments, which only the PART_GUESS
 * hooks see. */
static bool wants_segments(const struct trace *t)
{
	return t->opts.timeline || t->opts.stall_threshold_ns;
}

static void forget_guesses(struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_at; i++)
		if (t->at[i].hook->part != PART_GUESS)
			t->at[n++] = t->at[i];
	t->n_at = n;
}

/* The programs use the guesses until `exact` is set. So a hook that cannot be attached costs
 * precision, not correctness. */
static int attach_guesses(struct trace *t, struct err *e)
{
	unsigned char *exact = object_var(t, "exact");

	if (exact && sees_exactly(t)) {
		*exact = 1;
		t->exact = true;
		if (!wants_segments(t)) {
			forget_guesses(t);
			return 0;
		}
	}
	return attach_part(t, PART_GUESS, e);
}

int object_attach(struct trace *t, struct err *e)
{
	if (attach_part(t, PART_ALWAYS, e) || attach_part(t, PART_EXACT, e) ||
	    attach_guesses(t, e)) {
		object_detach(t);
		return -1;
	}
	wait_for_need(t);
	return 0;
}

void object_detach(struct trace *t)
{
	for (size_t i = 0; i < t->n_at; i++) {
		bpf_link__destroy(t->at[i].link);
		t->at[i].link = NULL;
	}
}

void object_close(struct trace *t)
{
	object_detach(t);
	digest_unmap(t);
	if (t->vars)
		munmap(t->vars, t->vars_size);
	bpf_object__close(t->obj);
	free(t->at);
}
