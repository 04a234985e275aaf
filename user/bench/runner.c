// SPDX-License-Identifier: GPL-2.0-only
/*
 * One point: two workers, ordered through pipes. The coordinator waits for both at once, so a worker's death, a signal or
 * silence past the time limit ends the point in bounded time, and both are always reaped.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/half.h"
#include "bench/run.h"
#include "remote/remote.h"

enum {
	SAMPLES_LEAST = 1 << 14,
	SAMPLES_MOST = 1 << 24,
	RECEIVE_BUFFER = 256 << 10, /* bulk: what one recv may take */
	RELIABLE_PIECE = 65000, /* or so, of a message in one packet */
	WARMUP_MOST_NS = 2000000000,
	GRACE_NS = 10000000,
	FAR_GRACE_MS = 500,
	RELIABLE_LEAST = 100, /* messages, where some are dropped: fewer say nothing of the waits */
};

volatile sig_atomic_t bench_interrupted;

static void on_signal(int sig)
{
	bench_interrupted = sig;
}

/* Held back except inside ppoll(), so that one cannot slip in between the question and the wait. */
void bench_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t set;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

struct worker {
	pid_t pid;
	int orders, reports; /* our ends */
};

struct bout {
	struct run run;
	struct worker worker[ROLES];
	struct conn ends[ROLES];
	int awake_fd;
};

static const char *role_name(enum role r)
{
	return r == ROLE_CLIENT ? "client" : "server";
}

static void *map_shared(size_t bytes, bool shared, struct err *e)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p != MAP_FAILED)
		return p;
	err_sys(e, EXIT_NO_RESOURCE, "give a smaller --size, --count or --duration", "memory for %zu bytes", bytes);
	return NULL;
}

/* A round trip takes no less than a microsecond: so many samples at most. */
static size_t sample_room(const struct bench_plan *plan, enum test t, size_t size)
{
	uint64_t n = (uint64_t)plan->o.duration / 1000;

	if (t == TEST_THROUGHPUT && plan->o.ack == ACK_FINAL)
		return SAMPLES_LEAST;
	if (plan->o.rate > 0)
		n = (uint64_t)(plan->o.rate * (double)plan->o.duration / 1e9) + 1;
	if (plan->o.count)
		n = (uint64_t)plan->o.count;
	if (plan->o.bytes)
		n = ((uint64_t)plan->o.bytes + size - 1) / size;
	return n < SAMPLES_LEAST ? SAMPLES_LEAST : n > SAMPLES_MOST ? SAMPLES_MOST : n;
}

static int map_all(struct bout *b, struct err *e)
{
	struct run *r = &b->run;
	size_t samples;

	r->max_samples = sample_room(r->plan, r->test, r->size);
	samples = (r->max_samples + 1) * sizeof(uint64_t);
	r->buf_size = r->size > RECEIVE_BUFFER ? r->size : RECEIVE_BUFFER;
	r->sh = map_shared(sizeof(*r->sh), true, e);
	r->samples[ROLE_CLIENT] = r->sh ? map_shared(samples, true, e) : NULL;
	r->samples[ROLE_SERVER] = r->samples[ROLE_CLIENT] && r->test == TEST_ONEWAY ? map_shared(samples, true, e) : NULL;
	if (!r->samples[ROLE_CLIENT] || (r->test == TEST_ONEWAY && !r->samples[ROLE_SERVER]))
		return -1;
	/* private: each end gets a copy of its own when it first writes there (do_open) */
	r->buf = mmap(NULL, r->buf_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->buf == MAP_FAILED) {
		r->buf = NULL;
		return err_sys(e, EXIT_NO_RESOURCE, "give a smaller --size", "memory for a message of %zu bytes", r->size);
	}
	return 0;
}

static void unmap_all(struct bout *b)
{
	struct run *r = &b->run;

	if (r->sh)
		munmap(r->sh, sizeof(*r->sh));
	for (int i = 0; i < ROLES; i++)
		if (r->samples[i])
			munmap(r->samples[i], (r->max_samples + 1) * sizeof(uint64_t));
	if (r->buf)
		munmap(r->buf, r->buf_size);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* In the child: keep only its own ends, or the other's death would not be seen. */
static void become_worker(struct bout *b, enum role role, int orders, int reports)
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
		remote_worker_main(&b->run, orders, reports);
	worker_main(&b->run, orders, reports);
}

static int spawn(struct bout *b, enum role role, struct err *e)
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
static int worker_died(struct bout *b, enum role role, struct err *e)
{
	pid_t pid = b->worker[role].pid;
	int status = 0;

	if (waitpid(pid, &status, 0) == pid)
		b->worker[role].pid = 0;
	if (WIFSIGNALED(status))
		return err_set(e, EXIT_PEER, "%s process %d: killed by signal %d (%s) in mid-run; nothing of this point is kept, run again",
			       role_name(role), (int)pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return err_set(e, EXIT_PEER, "%s process %d: ended with status %d in mid-run; run again", role_name(role), (int)pid,
		       WEXITSTATUS(status));
}

/* Who cannot be told has ended: how it ended is the reason. */
static int order(struct bout *b, enum role role, const struct order_msg *o, struct err *e)
{
	if (write(b->worker[role].orders, o, sizeof(*o)) == sizeof(*o))
		return 0;
	return worker_died(b, role, e);
}

static int take_report(struct bout *b, enum role role, struct err *e)
{
	struct report_msg m;
	ssize_t n = read(b->worker[role].reports, &m, sizeof(m));

	if (n != sizeof(m))
		return worker_died(b, role, e);
	if (m.ok)
		return 0;
	return err_set(e, m.err.code, "%s", m.err.text);
}

/* Once one end has failed, the other's words are only the echo of it, unless they tell of a death. */
static int one_report(struct bout *b, struct pollfd *pfd, struct err *e)
{
	for (int i = 0; i < ROLES; i++) {
		if (!(pfd[i].revents & (POLLIN | POLLHUP)))
			continue;
		if (take_report(b, (enum role)i, e))
			return -1;
		pfd[i].fd = -1;
	}
	return 0;
}

/* The other host's word of why its end is gone comes over the control channel, later than the end's own silence. */
static void prefer_far_word(struct bout *b, struct err *e)
{
	struct pollfd p = { b->worker[ROLE_SERVER].reports, POLLIN, 0 };
	struct report_msg m;

	if (poll(&p, 1, FAR_GRACE_MS) > 0 && read(p.fd, &m, sizeof(m)) == sizeof(m) && !m.ok)
		*e = m.err;
}

/* A killed end makes the other one complain first, sometimes. Give the death a moment to show: it is the cause. */
static void prefer_death(struct bout *b, struct err *e)
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

		if (b->worker[i].pid <= 0 || waitid(P_PID, b->worker[i].pid, &si, WEXITED | WNOHANG | WNOWAIT) || si.si_pid == 0 ||
		    si.si_code == CLD_EXITED)
			continue;
		*e = (struct err){};
		worker_died(b, (enum role)i, e);
		return;
	}
}

static int interrupted(struct err *e)
{
	return err_set(e, EXIT_INTERRUPTED, "interrupted: signal %d; both ends were stopped, finished points are kept", (int)bench_interrupted);
}

/* Wait for the reports of the roles in `mask`. */
static int await(struct bout *b, unsigned int mask, uint64_t budget_ns, struct err *e)
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
			return err_set(e, EXIT_PEER, "no answer from the %s for %.0f s; give a longer --timeout or fewer bytes",
				       pfd[0].fd >= 0 && pfd[1].fd >= 0 ? "two ends" : pfd[0].fd >= 0 ? "client" : "server", (double)budget_ns / 1e9);
		if (n > 0 && one_report(b, pfd, e)) {
			prefer_death(b, e);
			return -1;
		}
	}
	return bench_interrupted ? interrupted(e) : 0;
}

static int order_one(struct bout *b, enum role role, enum order what, struct err *e)
{
	struct order_msg o = { .order = what };

	if (order(b, role, &o, e))
		return -1;
	return await(b, 1u << role, (uint64_t)b->run.plan->o.timeout, e);
}

static int order_both(struct bout *b, const struct order_msg *o, uint64_t budget, struct err *e)
{
	if (order(b, ROLE_SERVER, o, e) || order(b, ROLE_CLIENT, o, e))
		return -1;
	return await(b, 3, budget, e);
}

/* What is dropped is waited for: twice as long as on average, and many times over for the unluckiest packet. */
uint64_t bench_repeats_ns(const struct run *r, const struct phase *p)
{
	double kept = 1 - r->wo.drop, each = (double)r->wo.rto_ns * r->wo.drop / kept, packets;

	if (!(r->w->flags & WL_RELIABLE))
		return 0;
	packets = (double)p->min_count * (double)(r->size / RELIABLE_PIECE + 1);
	return (uint64_t)(2 * packets * each + 40 * each);
}

/* Messages of a measured phase that are in no figure: what fills and empties a window, and the one turn that its time may be too short for. */
static double uncounted(const struct run *r)
{
	return r->plan->o.outstanding > 1 ? 3.0 * (double)r->plan->o.outstanding : 0;
}

/* When a phase's time is over a slow link still has to carry what the sender's buffer holds (tcp_wmem: up to 4 MiB), and the fewest messages. */
static uint64_t drain_ns(const struct run *r, const struct phase *p)
{
	const struct bench_plan *plan = r->plan;
	double buffered = plan->o.sndbuf > 2 << 20 ? 2.0 * (double)plan->o.sndbuf : 4 << 20;
	double rate = plan->has_link && plan->link_spec.rate ? (double)plan->link_spec.rate : INFINITY;

	if (plan->o.pacing)
		rate = fmin(rate, 8 * (double)plan->o.pacing);
	return (uint64_t)(8e9 * (buffered + ((double)p->min_count + uncounted(r)) * (double)r->size) / rate);
}

/* So many messages may take ten times as long, each, as those of the warm-up did: a number, or a schedule that is too fast, takes no account of the duration. */
static uint64_t work_ns(const struct run *r, const struct phase *p, const struct point *pt)
{
	double scheduled = r->plan->o.rate * (double)p->duration_ns / 1e9, n = fmax((double)p->min_count, scheduled) + uncounted(r);

	return pt->warmup ? (uint64_t)(10 * n * (double)pt->warmup_ns / (double)pt->warmup) : 0;
}

static void reset_phase(struct shared *sh)
{
	sh->last = sh->total = UINT64_MAX;
	sh->done = sh->started = 0;
}

/* the fewest messages of a phase, each at its own moment */
static uint64_t scheduled_ns(const struct run *r, const struct phase *p)
{
	return r->plan->o.rate > 0 ? (uint64_t)fmin((double)p->min_count * 1e9 / r->plan->o.rate, (double)PHASE_MOST_NS) : 0;
}

/* `more`: than the phase's own duration, and what its path takes */
static int run_phase(struct bout *b, const struct phase *p, uint64_t more, struct err *e)
{
	struct order_msg o = { .order = ORDER_PHASE, .phase = *p };
	uint64_t longest = p->duration_ns + scheduled_ns(&b->run, p) + bench_repeats_ns(&b->run, p) + drain_ns(&b->run, p) + more;

	o.phase.budget_ns = longest + (uint64_t)b->run.plan->o.timeout;
	reset_phase(b->run.sh);
	return order_both(b, &o, o.phase.budget_ns, e);
}

/* How many messages one round of warming up may have: on a slow schedule a few are all the time that there is. */
static uint64_t round_most(const struct run *r)
{
	double scheduled = r->plan->o.rate > 0 ? 1 + r->plan->o.rate * WARMUP_MOST_NS / 1e9 : INFINITY;

	return scheduled < (double)r->max_samples ? (uint64_t)scheduled : r->max_samples;
}

/* Warm-up goes on until both enough messages and enough time have passed: a connection's first messages are not like
 * the rest (slow start, quick-ACK mode), and a cold CPU is not like a warm one. */
static int warm_up(struct bout *b, struct point *pt, struct err *e)
{
	uint64_t t0 = now_ns(), most = (uint64_t)b->run.plan->o.warmup, least_ns = b->run.plan->warmup_ns;
	uint64_t at_most = round_most(&b->run), count = most < 8 ? most : 8;
	bool least_time = most > 0;

	while (pt->warmup < most || (least_time && now_ns() - t0 < least_ns)) {
		struct phase p = { .min_count = count < at_most ? count : at_most };

		p.max_count = p.min_count;
		if (run_phase(b, &p, 0, e))
			return -1;
		pt->warmup += b->run.sh->tally[ROLE_CLIENT].messages;
		if (now_ns() - t0 > WARMUP_MOST_NS)
			break;
		if (now_ns() - t0 < least_ns / 4 && count * 2 <= at_most)
			count *= 2;
	}
	pt->warmup_ns = now_ns() - t0;
	return 0;
}

/* By its duration; where it ends by a number, by what the warm-up foretells of that. */
static uint64_t slice_ns(const struct run *r, const struct phase *p, const struct point *pt)
{
	bool counted = r->plan->o.count || r->plan->o.bytes;
	double each = pt->warmup ? (double)pt->warmup_ns / (double)pt->warmup : 0;

	return (uint64_t)fmin((counted && each > 0 ? each * (double)p->min_count : (double)p->duration_ns) / (double)r->plan->o.trials, (double)PHASE_MOST_NS);
}

static struct phase measured_phase(const struct run *r)
{
	const struct bench_options *o = &r->plan->o;
	struct phase p = { .record = true, .max_count = r->max_samples, .min_count = 1, .duration_ns = (uint64_t)o->duration };

	if (r->test == TEST_THROUGHPUT && o->ack == ACK_FINAL)
		p.max_count = UINT64_MAX;
	if (r->w->flags & WL_RELIABLE && o->drop > 0 && r->test == TEST_LATENCY)
		p.min_count = RELIABLE_LEAST;
	if (o->count)
		p.max_count = p.min_count = (uint64_t)o->count;
	if (o->bytes)
		p.max_count = p.min_count = ((uint64_t)o->bytes + r->size - 1) / r->size;
	if (p.min_count > 1 && p.max_count > r->max_samples && (r->test != TEST_THROUGHPUT || o->ack != ACK_FINAL))
		p.max_count = p.min_count = r->max_samples;
	return p;
}

static void watch(const struct bout *b, struct noise_window *w)
{
	pid_t pids[ROLES] = { b->worker[ROLE_CLIENT].pid, b->worker[ROLE_SERVER].pid };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < ROLES; i++)
		if (b->run.plan->cpus[i] >= 0)
			CPU_SET(b->run.plan->cpus[i], &cpus);
	noise_begin(w, pids, ROLES, CPU_COUNT(&cpus) ? &cpus : NULL);
}

/* Two ends on one CPU take it from each other: there, being switched off it says nothing. */
static void judge(const struct bout *b, const struct bench_hooks *h, const struct noise_window *w, struct point *pt)
{
	struct noise_limits limits = noise_default_limits;
	char text[NOISE_WARNINGS][NOISE_TEXT];
	int n;

	limits.own_tracers = h ? h->own_tracers : 0;
	if (b->run.plan->placement == PLACE_SAME)
		limits.switches_per_s = INFINITY;
	noise_end(w, &pt->noise);
	n = noise_warnings(&pt->noise, &limits, text);
	for (int i = 0; i < n; i++)
		point_warn(pt, "%s", text[i]);
}

/* there was room for no more samples, and so the phase ended before its time */
static void warn_if_full(const struct run *r, const struct phase *p, struct point *pt)
{
	uint64_t n = r->sh->tally[ROLE_CLIENT].messages, took = pt->ended_ns - pt->started_ns;
	bool wanted_more = r->plan->o.count ? false : r->plan->o.bytes ? n * r->size < (uint64_t)r->plan->o.bytes : took < p->duration_ns;

	if (p->max_count == r->max_samples && n >= r->max_samples && wanted_more)
		point_warn(pt, "after %llu messages, %.3g s, there was no room for more samples: the run is shorter than was asked for", (unsigned long long)n, (double)took / 1e9);
}

static int measure(struct bout *b, const struct bench_hooks *h, struct point *pt, struct err *e)
{
	struct phase p = measured_phase(&b->run);
	struct noise_window w;

	if (h && h->phase_begin && h->phase_begin(h->ctx, e))
		return -1;
	if (b->run.samples[ROLE_SERVER])
		memset(b->run.samples[ROLE_SERVER], 0, (b->run.max_samples + 1) * sizeof(uint64_t));
	p.slice_ns = slice_ns(&b->run, &p, pt);
	watch(b, &w);
	pt->started_ns = now_ns();
	if (run_phase(b, &p, work_ns(&b->run, &p, pt), e))
		return -1;
	pt->ended_ns = now_ns();
	warn_if_full(&b->run, &p, pt);
	judge(b, h, &w, pt);
	return h && h->phase_end ? h->phase_end(h->ctx, e) : 0;
}

static uint64_t cpu_ns(const struct worker_usage *u)
{
	return (uint64_t)(u->user_us + u->system_us) * 1000;
}

static int extra_phase(void *bout, uint64_t duration_ns, struct bench_slice *s, struct err *e)
{
	struct bout *b = bout;
	struct phase p = measured_phase(&b->run);
	const struct tally *t = b->run.sh->tally;
	uint64_t t0 = now_ns();

	p.record = false; /* no figure: the cost of every message counts */
	p.min_count = 1;
	p.max_count = b->run.test == TEST_THROUGHPUT && b->run.plan->o.ack == ACK_FINAL ? UINT64_MAX : b->run.max_samples;
	p.duration_ns = duration_ns;
	if (run_phase(b, &p, 0, e))
		return -1;
	*s = (struct bench_slice){ t[ROLE_CLIENT].messages, now_ns() - t0, cpu_ns(&t[ROLE_CLIENT].usage) + cpu_ns(&t[ROLE_SERVER].usage) };
	return 0;
}

static int connect_ends(struct bout *b, struct err *e)
{
	struct order_msg o = { .order = ORDER_ACCEPT };

	if (order_one(b, ROLE_SERVER, ORDER_OPEN, e) || order_one(b, ROLE_CLIENT, ORDER_OPEN, e))
		return -1;
	return order_both(b, &o, (uint64_t)b->run.plan->o.timeout, e);
}

static int play(struct bout *b, const struct bench_hooks *h, struct point *pt, struct err *e)
{
	struct order_msg facts = { .order = ORDER_FACTS };
	/* who stands in for another host's end has nothing to trace but the control channel */
	pid_t pids[ROLES] = { b->worker[ROLE_CLIENT].pid, b->run.plan->remote ? 0 : b->worker[ROLE_SERVER].pid };

	if (connect_ends(b, e))
		return -1;
	if (h && h->prepare && h->prepare(h->ctx, pids, e))
		return -1;
	if (warm_up(b, pt, e) || measure(b, h, pt, e) || order_both(b, &facts, (uint64_t)b->run.plan->o.timeout, e))
		return -1;
	if (h && h->finish && h->finish(h->ctx, pt, e))
		return -1;
	if (summarise_point(&b->run, pt, e))
		return -1;
	return h && h->extra ? h->extra(h->ctx, &(struct bench_extra){ b, extra_phase }, e) : 0;
}

static void reap(struct bout *b, bool failed)
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

static void workload_options_of(const struct bench_plan *plan, enum test t, size_t size, struct workload_options *wo)
{
	const struct bench_options *o = &plan->o;

	*wo = (struct workload_options){
		.pair_type = plan->w->pair_type,
		.v6 = o->v6, .nodelay = bench_nodelay(plan, t), .cork = o->cork, .quickack = o->quickack,
		.spin = plan->placement == PLACE_SPIN, .engine = (enum engine)o->engine, .sndbuf = o->sndbuf, .rcvbuf = o->rcvbuf,
		.pipe_size = o->pipe_size, .mss = o->mss, .delack_max_ns = o->delack_max, .cc = o->cc, .port = (uint16_t)o->port,
		.message = size, .rto_ns = o->rto, .window = o->window, .drop = o->drop / 100, .seed = (uint64_t)o->seed, .pacing = o->pacing,
	};
}

static int open_all(struct bout *b, struct err *e)
{
	struct run *r = &b->run;

	if (r->plan->has_link) {
		r->wo.bind = link_addr(&r->plan->link, LINK_SERVER, r->wo.v6 ? AF_INET6 : AF_INET, e);
		if (!r->wo.bind)
			return -1;
	}
	if (map_all(b, e))
		return -1;
	b->awake_fd = stay_awake(r->plan->placement, e);
	if (b->awake_fd == -2)
		return -1;
	return r->w->open_pair ? r->w->open_pair(b->ends, &r->wo, e) : 0;
}

static void describe(const struct run *r, struct point *p)
{
	p->mode = r->w->name;
	p->placement = placement_name(r->plan->placement);
	p->ack = r->test != TEST_THROUGHPUT ? NULL : r->plan->o.ack == ACK_MESSAGE ? "message" : "final";
	p->test = r->test;
	p->size = r->test == TEST_CONNECT ? 0 : (int64_t)r->size;	/* a connect carries no message */
	p->nodelay = r->wo.nodelay && r->w->flags & WL_TCP;
	for (int i = 0; i < ROLES; i++)
		p->cpus[i] = r->plan->cpus[i];
}

static void bout_init(struct bout *b, const struct bench_plan *plan, enum test t, int64_t size)
{
	*b = (struct bout){ .run = { .plan = plan, .w = plan->w, .test = t, .size = (size_t)size, .clock = plan->clock,
				     .engine = &engines[plan->o.engine] },
			    .worker = { { 0, -1, -1 }, { 0, -1, -1 } }, .ends = { CONN_NONE, CONN_NONE }, .awake_fd = -1 };
	workload_options_of(plan, t, (size_t)size, &b->run.wo);
}

int bench_run_as_planned(const struct bench_plan *plan, enum test t, int64_t size, const struct bench_hooks *hooks, struct point *p,
			 struct err *e)
{
	struct bout b;
	int rc;

	memset(p, 0, sizeof(*p));
	bout_init(&b, plan, t, size);
	describe(&b.run, p);
	rc = open_all(&b, e);
	if (rc == 0)
		rc = spawn(&b, ROLE_SERVER, e) || spawn(&b, ROLE_CLIENT, e);
	if (plan->w->open_pair) { /* ours would keep a dead worker's connection open */
		conn_close(&b.ends[0]);
		conn_close(&b.ends[1]);
	}
	if (rc == 0)
		rc = play(&b, hooks, p, e);
	reap(&b, rc != 0);
	close_fd(&b.awake_fd);
	unmap_all(&b);
	if (rc)
		point_free(p);
	return rc ? -1 : 0;
}

/* --- one end alone: the other is on another host (half.h) --- */
struct half {
	struct bout b;
};

struct run *half_run(struct half *h)
{
	return &h->b.run;
}

pid_t half_pid(const struct half *h)
{
	return h->b.worker[ROLE_SERVER].pid;
}

int half_fd(const struct half *h)
{
	return h->b.worker[ROLE_SERVER].reports;
}

int half_order(struct half *h, const struct order_msg *o, struct err *e)
{
	return order(&h->b, ROLE_SERVER, o, e);
}

int half_report(struct half *h, struct err *e)
{
	return take_report(&h->b, ROLE_SERVER, e);
}

void half_reset(struct half *h)
{
	reset_phase(h->b.run.sh);
	if (h->b.run.samples[ROLE_SERVER])
		memset(h->b.run.samples[ROLE_SERVER], 0, (h->b.run.max_samples + 1) * sizeof(uint64_t));
}

void half_stop(struct half *h, bool failed)
{
	reap(&h->b, failed);
	close_fd(&h->b.awake_fd);
	unmap_all(&h->b);
	free(h);
}

struct half *half_start(const struct bench_plan *plan, enum test t, int64_t size, const char *bind, struct err *e)
{
	struct half *h = calloc(1, sizeof(*h));

	if (!h) {
		err_set(e, EXIT_NO_RESOURCE, "a run: out of memory");
		return NULL;
	}
	bout_init(&h->b, plan, t, size);
	h->b.run.wo.bind = bind;
	if (open_all(&h->b, e) == 0 && spawn(&h->b, ROLE_SERVER, e) == 0)
		return h;
	half_stop(h, true);
	return NULL;
}
