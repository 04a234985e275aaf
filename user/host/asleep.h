/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process does that others wait for, found by looking again and again: in which system calls
 * a thread sleeps, and how long any of them ran. */
#ifndef IPCSTALL_HOST_ASLEEP_H
#define IPCSTALL_HOST_ASLEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ASLEEP_CALLS 16 /* of more the rest are not told apart */

struct asleep_call {
	int nr; /* the kernel's number; -1: in none, as for a page that is read */
	bool no_files; /* poll() or select() of no descriptor: a timer */
	bool timed_futex; /* futex() with a timeout: it may be a timer, too */
	bool at_fd; /* it reads or writes `fd`, or polls it alone for reading */
	bool writes;
	int fd;
	bool opens_fifo; /* at that path */
	bool is_terminal; /* at that path */
	/* the path that it opens, of the Unix socket that it connects to, or of the file that it
	 * reads, writes or syncs; "": there is none */
	char path[108];
	unsigned int found;
};

struct asleep_process {
	pid_t pid;
	char comm[16];
};

#define ASLEEP_CHAIN 6

enum asleep_end {
	ASLEEP_END_UNKNOWN,
	ASLEEP_END_SLEEPS,
	ASLEEP_END_RUNS,
	ASLEEP_END_STOPPED,
	ASLEEP_END_CIRCLE, /* it sleeps for one that comes before it in the chain */
	ASLEEP_END_FULL,   /* its connection to `end_at`, of another host, takes no more */
	ASLEEP_END_ASKED,  /* it awaits an answer from `end_at`, of another host */
};

struct asleep {
	pid_t pid, tid;
	bool is_one_of_many; /* threads: this one sleeps for another process */
	char comm[16];
	struct asleep_process tracer; /* pid 0: nobody traces it by ptrace() */
	unsigned int samples, running; /* running: on a CPU, or ready for one */
	unsigned int disk; /* asleep where no signal wakes it: as a rule for a disk */
	/* by call and descriptor; the most frequent first, after asleep_sort() */
	struct asleep_call v[ASLEEP_CALLS];
	size_t n;
	/* from the first sample to the last: how long its busiest thread had a CPU, or was ready
	 * for one, and how long the quota of a cgroup kept all of them off the CPUs; over_ns 0:
	 * that is not known */
	pid_t busiest;
	char busiest_comm[16]; /* "": that of the process */
	uint64_t over_ns, busiest_ns, no_cpu_ns, quota_ns;
	bool stopped; /* before the first sample and after the last */
	/* Each sample is of a thread that had read a request, which was not answered yet. */
	bool at_work;
	double awaited; /* share of the time in which others wait for it; 0: not known */
	pid_t waiters[2]; /* who waits until it sends, and the first of their chain; 0: not known */
	bool awaits_waiter; /* it sleeps until that one sends: it is idle */
	unsigned int rests; /* samples between requests, which `samples` and `v` leave out */
	/* for whom it sleeps in that call, for whom that one sleeps, and so on; what the last one
	 * does */
	struct asleep_process chain[ASLEEP_CHAIN];
	size_t n_chain;
	enum asleep_end end;
	int end_nr; /* the call in which it sleeps */
	char end_path[108]; /* the file or terminal there; "": none */
	bool end_no_files, end_timed_futex;
	bool end_is_one_of_many; /* threads */
	char end_at[64];
};

/* Its only thread; 0: it has several, or is gone. */
pid_t asleep_only_thread(pid_t pid);
/* All threads; 0: there are more than `max`. */
size_t asleep_threads(pid_t pid, pid_t *tids, size_t max);
/* False: the thread is gone, or cannot be looked at. */
bool asleep_sample(struct asleep *a);
void asleep_sort(struct asleep *a);
/* The thread and samples of `a` are those of another thread of the process from now on. */
void asleep_take_samples(struct asleep *a, const struct asleep *from);
/* If others wait for it only at times, the most frequent call may be the one in which it sleeps
 * between two requests. */
bool asleep_may_rest(const struct asleep *a);
/* Leaves out the samples in that call, if enough others tell what it does meanwhile. */
void asleep_leave_out_rests(struct asleep *a);
/* That process waits for it, or is the first in a chain of those that do. */
bool asleep_has_waiter(const struct asleep *a, pid_t pid);
/* "clock_nanosleep"; of one without a name here "system call 7" */
void asleep_name(int nr, char *buf, size_t len);
/* Mostly in a call in which servers sleep when they have nothing to do. */
bool asleep_seems_idle(const struct asleep *a);
/* Mostly in connect() to a Unix socket whose backlog is full, or in open() of a FIFO. */
bool asleep_opens(const struct asleep *a);
bool asleep_connects(const struct asleep_call *call);
/* Mostly in poll(), epoll_wait() or select() of descriptors. */
bool asleep_for_events(const struct asleep *a);
/* Mostly in one call on one descriptor, which is no file: that of the first row. */
bool asleep_at_fd(const struct asleep *a);
/* How often it was found in the call of this row, at any descriptor; 0: an earlier row tells. */
unsigned int asleep_in_call(const struct asleep *a, size_t row);
/* what a thread waits for there: "a timer"; NULL: that may be anything */
const char *asleep_for(const struct asleep_call *call);
/* Mostly in wait4() or waitid(). */
bool asleep_for_child(const struct asleep *a);
/* Mostly in futex(), or for a timer: only its own code tells what for. */
bool asleep_by_its_own_code(const struct asleep *a);
/* Mostly in one call, which waits neither for what others send, nor for a child or a signal. */
bool asleep_is_elsewhere(const struct asleep *a);
/* It waits for events, a connection, a signal or another thread: it works on nothing. */
struct thread_call;
bool asleep_is_idle(const struct thread_call *call);
/* read(), recvmsg() and the like */
bool asleep_is_receive(long nr);

#endif
