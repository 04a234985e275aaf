/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of user/tracer share. Nothing outside includes this. */
#ifndef IPCSTALL_TRACER_INTERNAL_H
#define IPCSTALL_TRACER_INTERNAL_H

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sys/stat.h>

#include "tracer/hooks.h"
#include "tracer/process_cpu.h"
#include "bpf/record.h"
#include "tracer/trace.h"

/* one hook, and how it is attached */
struct attached {
	const struct hook *hook;
	struct bpf_link *link;
	bool hooked;	/* stays set after the session's end */
	char point[64]; /* the first of the hook's points that this kernel has */
	char why_not[160];
};

struct closed_list {
	struct endpoint *ep;
	size_t n, room, shown; /* shown: how many, from the first on, were in a snapshot */
	uint64_t dropped;      /* the least stalled ones, dropped to make room; their sums: */
	uint64_t tx_bytes, rx_bytes, stall_ns, lifetime_ns;
	struct trace_endpoint
		*rest; /* all their figures, by protocol; NULL: none dropped, or no memory */
};

/* A process whose descriptors were searched. */
struct searched {
	pid_t pid;
	size_t places; /* how many of its descriptors have an endpoint */
	long next_fd;  /* the first descriptor that found no room; 0: all found room */
	bool waits_for_child; /* and does nothing else */
};

struct trace {
	struct trace_options opts;
	enum trace_backend backend;
	char why[240];
	struct bpf_object *obj;
	const char *object, *refused; /* name of the loaded object; of one meant for this kernel
					 that the kernel refused */
	struct attached *at;
	size_t n_at;
	struct ring_buffer *ring;
	bool hashed; /* a large session: see bpf/endpoint_table.bpf.h */
	char *vars;  /* the object's variables, shared with the kernel */
	size_t vars_size;
	uint32_t *tgid_hint; /* one of these variables: see trace_follow() */
	int followed_fd;
	const struct call
		*calls; /* one of these variables: the table of threads in calls; NULL: none */
	int endpoints_fd, keys_fd, settle_fd, so_far_fd, stats_fd, seed_fd, seed_call, seed_poll,
		number_fd;
	struct stat pidns;
	bool numbered; /* in a PID namespace: the hooks know processes by other pids */
	struct {       /* for trace_digests_take(); keys NULL: the kernel half writes no digests */
		int list_fd, digest_fd;
		uint64_t *keys, *n_keys;
		struct digest_order *order;
	} digester;
	struct sampler *sampler; /* NULL: the ledger's session */
	struct {		 /* for stacks_tend() */
		unsigned int samples;
		uint64_t lost;
	} stacks;
	struct trace_existing existing;
	struct searched *searched; /* by the last search of preexisting.c, sorted by pid */
	size_t n_searched;
	struct { /* of the last snapshot, by endpoint */
		struct reader_cpu *v;
		size_t n;
		struct cpu_book book;
		uint64_t next_ns; /* /proc is not read again before then */
	} readers;
	struct { /* see pipe_holders.c, by endpoint */
		struct pipe_holders *v;
		size_t n;
		uint64_t next_ns; /* /proc is not walked again before then */
	} holders;
	pthread_t thread;
	pthread_mutex_t lock;	 /* of the ring and `closed` */
	pthread_mutex_t listing; /* of digester.keys; if both locks are taken, `lock` comes first */
	bool running, stop;
	const unsigned char *ends_unseen; /* NULL: no hook waits to be attached late */
	bool exact; /* TCP's queue is looked at right after each event: see `exact` in
		       bpf/filter.bpf.h */
	struct closed_list closed;
	uint64_t missed_before; /* programs not run for earlier targets */
	struct trace_listeners unlistened; /* sockets that do not listen any more */
	int listening_fd, settle_listener, evict_fd;
	struct {		/* for eviction_tend() */
		uint64_t asked; /* requests for room that had failed when room was last made */
		uint64_t next_ns;
	} eviction;
	uint64_t n_closed, lost;
};

/* "WHAT: why; NEXT", from an errno */
int fail_sys(struct err *e, int err, const char *what, const char *next);

/* object.c: open, options, load, attach */
int object_load(struct trace *t, struct err *e);
int object_attach(struct trace *t, struct err *e);
void object_attach_late(struct trace *t);
void object_detach(struct trace *t);
void object_close(struct trace *t);
/* follow.c: is it a live process that the session does not follow? */
bool is_outsider(const struct trace *t, __u32 tgid);

/* object_vars.c: finds a constant before the object is loaded; maps the variables after that; finds
 * one of them. NULL: no such name. */
void *object_const(struct bpf_object *obj, const char *name);
int object_map_vars(struct trace *t);
void *object_var(const struct trace *t, const char *name);

/* endpoint_eviction.c: drops idle endpoints when others found no slot; called with the session's
 * lock, often */
void eviction_tend(struct trace *t);

/* stack.c: sets the room for stacks before the object is loaded; makes room from time to time */
int stacks_size(struct trace *t);
void stacks_tend(struct trace *t);

/* features.c */
bool feature_typedef(const char *name);
bool feature_func(const char *name);
/* Why this backend does not work although raw tracepoints do: lockdown or the kernel forbids it,
 * and no capability is missing. NULL: it works, or raw tracepoints do not. */
const char *feature_locked(enum trace_backend b);
bool feature_debugs(void); /* IPCSTALL_DEBUG_BPF is set: show the verifier's messages */
int feature_args(const char *tracepoint);
int feature_drop_args(void); /* of kfree_skb; known without the types once it was asked for */
/* Frees the kernel's types, 6 MB. What asks for them later reads them again. */
void feature_forget_types(void);
int feature_func_args(const char *name);
uint64_t feature_symbol(const char *name);

/* digest.c */
bool digest_map(struct trace *t);
void digest_unmap(struct trace *t);

/* sampling_thread.c: the samples of a sampled session */
int sampler_start(struct trace *t, struct err *e);
void sampler_stop(struct trace *t);
void sampler_free(struct trace *t);
/* Searches, now and then, for new sockets and pipes of which no hook tells. Called with the
 * session's lock. */
void sampler_finds(struct trace *t);
void sampler_spent(struct trace *t, uint64_t cpu_ns); /* on reading /proc, or on a sample again */
bool sampler_will_find(const struct trace *t); /* is a search due now? */
/* run_program.c: lists all keys in use in t->digester.keys; returns how many */
size_t list_endpoint_keys(struct trace *t);
/* run_program.c: runs one of the digest programs, by test run */
int run_program(int fd, uint64_t arg);

/* sampled_endpoint.c: makes unknown what samples cannot tell, and sets what they found */
void sampled_endpoint(struct trace_endpoint *out, const struct endpoint *ep);
/* reader_cpu.c */
void reader_cpu_fill(struct trace *t, struct trace_snapshot *s);
void reader_cpu_free(struct trace *t);
/* cpu_quota.c: how long its cgroup was throttled in the group's life, over all CPUs */
uint64_t cpu_quota_throttled(pid_t pid);
/* accepted_by.c */
void accepted_by_fill(struct trace_snapshot *s);
/* pipe_holders.c */
void pipe_holders_fill(struct trace *t, struct trace_snapshot *s);
void pipe_holders_free(struct trace *t);
/* fd_owner.c: is a descriptor open for reading (S_IRUSR) or writing (S_IWUSR)? */
bool fd_open_for(int dir, long fd, mode_t how);
/* Calls fn for every descriptor of every process; dir: its /proc/PID/fd. False: the descriptors of
 * some process could not be listed. */
typedef void (*descriptor_fn)(void *ctx, pid_t pid, int dir, long fd);
bool proc_descriptors(descriptor_fn fn, void *ctx);
void copy_samples(struct trace_samples *out, const struct endpoint *ep);

/* preexisting.c: counts the sockets and pipes that exist already; makes endpoints of them, once the
 * hooks are attached */
size_t preexisting_count(struct trace *t);
int preexisting_find(struct trace *t, struct err *e);
/* searches the descriptors again, but not the sleeping threads */
void preexisting_again(struct trace *t);
/* how many threads a process has; 0: it is gone */
size_t proc_threads(pid_t pid);
/* does it have one thread, asleep until a child ends or a signal comes, like a shell's? */
bool proc_waits_for_child(pid_t pid);
/* when a process began, in ticks since boot: tells it from a later one with its pid; 0: it ended */
uint64_t proc_began(pid_t pid);
/* inode of a "socket:[123]" or "pipe:[123]"; SEED_FIFO for a path, which may be a FIFO's; else 0 */
uint64_t proc_inode(int dir, long fd);
/* Sets inodes, by endpoint index: the inode of the socket at the other end, if that is on this host
 * and no endpoint. Only what is found is set. */
void other_ends_inodes(struct trace_snapshot *s, uint64_t *inodes);

#define RING_HOLDS 128 /* records of closed endpoints: less than half of the smallest ring */

/* records.c: how long it stalled, as far as booked */
uint64_t endpoint_stalled_ns(const struct endpoint *ep);
/* snapshot.c: a snapshot of all endpoints, each settled first */
size_t snapshot_keys(const struct trace *t, uint64_t *keys, size_t max);
bool snapshot_copy(const struct trace *t, uint64_t key, struct endpoint *ep);
uint64_t snapshot_now(void);
void snapshot_settle(struct trace *t);
void snapshot_tell_ongoing(struct trace *t, uint64_t at);

/* run_program.c: runs a program of the kernel half for one key; < 0: it is not loaded */
void snapshot_run(int program, uint64_t key, uint64_t at);

/* listeners.c */
void listeners_gone(struct trace *t, const struct listener *l);
void listeners_fill(struct trace *t, struct trace_listeners *out, uint64_t now);

/* records.c: the ring's callback */
int on_record(void *ctx, void *data, size_t size);

/* endpoint.c: if details->no_memory is set then, the endpoint lacks its detail */
void endpoint_fill(struct trace_endpoint *out, const struct endpoint *ep, const struct trace *t,
		   struct trace_details *details);
void endpoint_book(struct endpoint *ep);
/* is the copy of one moment? Then the booked time is all the time until the present states began */
bool endpoint_whole(const struct endpoint *ep);
uint8_t endpoint_moved(uint64_t *bytes, uint64_t moved);
uint32_t endpoint_min_rtt(uint32_t us);
uint64_t endpoint_under_way(uint64_t bytes, uint64_t moved, word_t word);
/* some or all of the reads were not seen */
void endpoint_reads_missed(struct trace_endpoint *out, uint64_t at_least);

/* counters.c */
void counters_fill(struct trace *t, struct trace_counters *c);
uint64_t counters_one(struct trace *t, enum counter which);
uint64_t counters_missed(struct trace *t);

/* subtract.c: adds an endpoint to what closed_sums_new() made */
void rest_add(struct trace_endpoint *rest, const struct trace_endpoint *ep);

/* resolution.c: how well this backend sees each figure */
void resolution_fill(struct trace_endpoint *ep, enum trace_backend b, bool exact);
/* how well dropped datagrams are known */
enum trace_resolution resolution_drops(enum trace_proto proto);
void resolution_unseen(struct trace_endpoint *ep, bool tx, bool rx);

#endif
