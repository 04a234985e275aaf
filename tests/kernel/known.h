/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Known workloads: each case keeps an application waiting in one known way, a known number of
 * times, and says what its own clock saw. A case knows nothing of the tool; it knows what the words
 * of the ledger mean.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_SEC  1000000000ull
/* A call that took longer than this has waited for a nap of 10 ms; a message, for a delayed ACK,
 * which is 40 ms and more. */
#define WAITED_NS  (4 * NSEC_PER_MSEC)
#define STALLED_NS (30 * NSEC_PER_MSEC)
#define MAX_ENDS   80
#define MAX_PARAMS 16
#define MAX_SPANS  4096

/* What one end of a conversation saw; in memory that both ends share. */
struct end {
	char role[32], proto[8], local[64], remote[64];
	int pid, tid;
	unsigned long long inode, netns;
	uint64_t opened_ns, closed_ns;
	uint64_t in_write_ns, in_read_ns, napped_ns;
	bool asks_cpu;		     /* two more system calls for each read, to know: */
	uint64_t off_cpu_in_read_ns; /* what is left of in_read_ns without the work in it */
	uint64_t waits;		     /* write calls above WAITED_NS */
	uint64_t tx_bytes, rx_bytes, tx_messages, rx_messages;
	uint64_t cpu_ns,
		runq_ns; /* of the thread that holds it: running, and woken but not yet running */
	uint64_t cpu_before, runq_before;
	uint64_t late_ns; /* neither reading nor napping, while data may have been there */
	bool has_tcp_info;
	uint64_t busy_ns, rwnd_limited_ns, sndbuf_limited_ns;
	unsigned int retransmits;
	long long drops; /* receive buffer drops by SO_MEMINFO; -1 unknown */
};

struct shared {
	struct end ends[MAX_ENDS];
	int nr_ends;
	pthread_barrier_t meeting;
	int pids[2];
};

struct json {
	FILE *f;
	bool more;
};

struct param {
	const char *key;
	const char *value;
	bool used;
};

struct known {
	const char *name;
	struct param params[MAX_PARAMS];
	int nr_params;
	struct shared *shared;
	struct json truth, expect, groups;
	char *truth_text, *expect_text, *groups_text;
	size_t truth_len, expect_len, groups_len;
	uint64_t elapsed_ns, steal_ns;
	bool threads; /* the other end is a thread instead of a process */
	pid_t child;
	pthread_t thread;
};

/* Returns when done; die() and skip() end the run. */
struct known_case {
	const char *name;
	void (*run)(struct known *k);
	const char *help;
};

extern const struct known_case tcp_cases[], tcp_share_cases[], pipe_cases[], unix_cases[],
	udp_cases[], net_cases[], misc_cases[], first_cases[];

/* known_lib.c: clock, failure, parameters, ends, calls that keep time */
uint64_t now_ns(void);
void nap_ns(uint64_t ns);
void nap(struct end *e, long ms);
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);
__attribute__((noreturn, format(printf, 1, 2))) void skip(const char *fmt, ...);
long param(struct known *k, const char *key, long otherwise);
const char *param_text(struct known *k, const char *key, const char *otherwise);
struct end *end_new(struct known *k, const char *role, const char *proto);
struct end *end_find(struct known *k, const char *role);
void end_here(struct end *e, int fd);
void end_gone(struct end *e);
uint64_t stolen_ns(void);
uint64_t cpu_time_ns(void);
void put(struct end *e, int fd, const void *buf, size_t len);
bool get(struct end *e, int fd, void *buf, size_t len);
ssize_t get_some(struct end *e, int fd, void *buf, size_t len);
void set_int(int fd, int level, int option, int value, const char *what);
void *spare_memory(size_t len);
typedef void side_fn(struct known *k, void *arg);
void other_side(struct known *k, side_fn *fn, void *arg);
void join_other_side(struct known *k);
void meet(struct known *k);
bool command(const char *line);

/* known_compat.c: read() and write() as a 64-bit or, with compat=1, as a 32-bit program makes them
 */
void choose_calls(struct known *k);
ssize_t call_read(int fd, void *buf, size_t len);
ssize_t call_write(int fd, const void *buf, size_t len);

/* known_json.c */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_int(struct json *j, const char *key, long long value);
void json_real(struct json *j, const char *key, double value);
void json_text(struct json *j, const char *key, const char *value);

/* known_expect.c: what a right ledger shows; `states` is one or several joined by '+' */
void truth_ns(struct known *k, const char *name, uint64_t value);
void expect_ns(struct known *k, const char *role, const char *ledger, const char *states,
	       uint64_t ns);
void expect_range(struct known *k, const char *role, const char *ledger, const char *states,
		  uint64_t low, uint64_t high);
void expect_none(struct known *k, const char *role, const char *ledger, const char *states);
void expect_cause(struct known *k, const char *role, const char *state);
void expect_no_stall(struct known *k, const char *role);
void expect_count(struct known *k, const char *role, const char *ledger, const char *state,
		  uint64_t low, uint64_t high);
void expect_longest(struct known *k, const char *role, const char *ledger, const char *state,
		    uint64_t low);
void expect_beside(struct known *k, const char *role, const char *ledger, const char *figure,
		   uint64_t low, uint64_t high);
void expect_beside_ns(struct known *k, const char *role, const char *ledger, const char *figure,
		      uint64_t ns);
void expect_blame(struct known *k, const char *role, const char *state, const char *by);
void expect_covers(struct known *k, const char *feature);
void expect_unseen_calls(struct known *k, const char *role, const char *ledger, uint64_t bytes);
void expect_traffic(struct known *k, const char *role);
void group(struct known *k, const char *role, const char *proto, const char *side, int port,
	   long endpoints, long first, long step);

/* known_flow.c: a writer and a reader, one of them slow, over whatever the descriptors are */
struct flow {
	long n, size, nap_ms;
	bool slow_reader;
	bool whole; /* a message is one call (datagrams) */
	long ask; /* who is not slow asks before it reads or writes: 1 by poll(), 2 by select(); 3:
		     a writer after, by epoll */
};
enum { ASK_EPOLL = 3 };
struct flow flow_params(struct known *k, bool slow_reader, long n, long size, long nap_ms);
void flow_writer(struct known *k, struct end *e, int fd, const struct flow *f);
void flow_reader(struct known *k, struct end *e, int fd, const struct flow *f);
void flow_expect(struct known *k, const struct flow *f);

/* known_sock.c: TCP sockets, watched */
struct tcp_opts {
	int family, rcvbuf, sndbuf, nodelay, maxseg;
	const char *bind_to; /* address the server listens on; NULL: loopback */
	const char *cc; /* congestion control; NULL: reno, which every kernel has: no pacing, and a
			   window that opens as the book says */
};
typedef void tcp_body(struct known *k, struct end *e, int fd);
int tcp_listen(struct known *k, const struct tcp_opts *o, int *port);
int tcp_dial(struct known *k, const struct tcp_opts *o, int port);
void tcp_info(struct end *e, int fd);
void end_addresses(struct end *e, int fd);
int tcp_unsent(int fd);
bool reached_peer(int fd);
uint64_t watch_unsent(int fd, uint64_t from, uint64_t until);
unsigned int socket_memory(int fd, int which);
void tcp_case(struct known *k, const struct tcp_opts *o, tcp_body *client, tcp_body *server);
struct tcp_opts tcp_params(struct known *k);

/* known_net.c: two network namespaces joined by a veth pair; gone with the processes in them */
struct wire {
	const char *client_qdisc, *server_qdisc; /* "tbf rate ..." or NULL */
	bool no_offload;
	bool patient; /* no timeout, however late the acknowledgements */
};
void wire_client(struct known *k, const struct wire *w);
void wire_server(struct known *k, const struct wire *w);
#define WIRE_CLIENT "10.99.7.1"
#define WIRE_SERVER "10.99.7.2"

#endif
