// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sampling thread of a sampled session. It sleeps for a random time, has the kernel half sample
 * the endpoints whose turn it is, and sleeps again. In each round every endpoint comes once, in a
 * new random order.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tracer/internal.h"
#include "sampler/sample_rate.h"
#include "stats/rng.h"

#define FIND_SHARE    0.2	   /* share of the budget for searches of descriptors */
#define FIND_EVERY_NS 100000000ull /* shortest time between two searches */
#define SAMPLE_ARGS   3		   /* see sample_endpoints() */
#define LIST_EVERY_NS \
	1000000000ull /* time between two walks of the map, which drop closed endpoints */

struct sampler {
	pthread_t thread;
	bool running, stop;
	int sample_fd;
	uint64_t *order; /* shared with the kernel half: SAMPLED_AT_ONCE keys */
	uint64_t *keys;	 /* of this round, in the order of their turns */
	size_t n, at, room;
	const uint64_t *last_serial, *births; /* of the kernel half */
	pthread_mutex_t stalled_lock;
	struct trace_stalled stalled[TRACE_STALLED_KEPT];
	size_t n_stalled;
	struct sample_rate rate;
	struct rng rng;
	uint64_t listed_ns, serial_then;
	uint64_t find_next_ns;
	uint64_t accounted_ns, found_ns; /* accounted until; find_ns charged so far */
	struct trace_sampling told;	 /* written by the sampling thread alone, except find_ns */
};

_Static_assert(SAMPLE_RATE_AT_ONCE == SAMPLED_AT_ONCE,
	       "one run samples another number of endpoints");

/* A sample that waits for a CPU is taken when another task sleeps, not at a random instant. So
 * this thread gets real-time priority if allowed, else nice -20. */
static void go_first(void)
{
	struct sched_param p = { .sched_priority = 1 };

	prctl(PR_SET_TIMERSLACK, 1UL);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &p))
		setpriority(PRIO_PROCESS, 0, -20);
}

static uint64_t last_serial(const struct trace *t)
{
	const struct sampler *s = t->sampler;

	return s->last_serial ? __atomic_load_n(s->last_serial, __ATOMIC_RELAXED) : 0;
}

static void list_all(struct trace *t, struct sampler *s, uint64_t now)
{
	s->serial_then =
		last_serial(t); /* read first: an endpoint born meanwhile is then sampled twice */
	pthread_mutex_lock(&t->listing);
	s->n = MIN(list_endpoint_keys(t), s->room);
	memcpy(s->keys, t->digester.keys, s->n * sizeof(*s->keys));
	pthread_mutex_unlock(&t->listing);
	s->listed_ns = now;
}

/* Adds the endpoints born since then. Their keys are in a ring. One that is just being made
 * comes with the next walk. */
static void add_births(struct trace *t, struct sampler *s)
{
	uint64_t last = last_serial(t);

	for (; s->births && s->serial_then < last && s->n < s->room; s->n++)
		s->keys[s->n] =
			__atomic_load_n(&s->births[++s->serial_then % BIRTHS], __ATOMIC_RELAXED);
}

/* Begins a new round: all live endpoints, in a new order. */
static void list_round(struct trace *t, struct sampler *s)
{
	uint64_t now = snapshot_now();

	s->at = 0;
	if (now - s->listed_ns > LIST_EVERY_NS || last_serial(t) - s->serial_then >= BIRTHS)
		list_all(t, s, now);
	else
		add_births(t, s);
	if (s->n > s->rate.at_once)
		rng_shuffle(&s->rng, s->keys, s->n, sizeof(*s->keys));
}

static bool is_stalled(uint64_t found)
{
	return found & FOUND && tx_is_stall(found & FOUND_TX);
}

static void note_stalled(struct sampler *s, size_t n)
{
	uint64_t now = snapshot_now();

	pthread_mutex_lock(&s->stalled_lock);
	for (size_t i = 0; i < n && s->n_stalled < TRACE_STALLED_KEPT; i++)
		if (is_stalled(s->order[i]))
			s->stalled[s->n_stalled++] =
				(struct trace_stalled){ s->keys[s->at + i], s->order[i] & FOUND_TX,
							now };
	pthread_mutex_unlock(&s->stalled_lock);
}

static size_t run_sample(struct sampler *s, size_t n)
{
	uint64_t args[SAMPLE_ARGS] = { n };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	memcpy(s->order, s->keys + s->at, n * sizeof(*s->keys));
	if (bpf_prog_test_run_opts(s->sample_fd, &o))
		o.retval = 0;
	else
		note_stalled(s, n);
	s->at += n;
	return o.retval;
}

static void sample_once(struct trace *t, struct sampler *s)
{
	size_t left, found = 0, n;

	if (s->at >= s->n)
		list_round(t, s);
	for (left = MIN(s->rate.at_once, s->n - s->at), n = left; left;
	     left -= MIN(left, SAMPLED_AT_ONCE))
		found += run_sample(s, MIN(left, SAMPLED_AT_ONCE));
	__atomic_fetch_add(&s->told.samples, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->told.endpoint_samples, found, __ATOMIC_RELAXED);
	s->told.rate_hz = s->rate.hz;
	s->told.part = s->n ? (double)n / (double)s->n : 1;
	__atomic_store_n(&s->told.endpoints, s->n, __ATOMIC_RELAXED);
}

static void sleep_until(uint64_t at, uint64_t now)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	at = (uint64_t)until.tv_sec * 1000000000 + (uint64_t)until.tv_nsec +
	     (at > now ? at - now : 0);
	until = (struct timespec){ .tv_sec = (time_t)(at / 1000000000),
				   .tv_nsec = (long)(at % 1000000000) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* Samples get the budget that searches of /proc leave. An expensive search is charged in parts;
 * otherwise sampling would stop for seconds. */
static void account(struct sampler *s, uint64_t samples_cpu_ns)
{
	uint64_t find_ns = __atomic_load_n(&s->told.find_ns, __ATOMIC_RELAXED),
		 now = snapshot_now(), ns = now - s->accounted_ns,
		 part = (uint64_t)(FIND_SHARE * s->rate.budget * (double)ns),
		 paid = MIN(find_ns - s->found_ns, part);

	sample_rate_spent(&s->rate, samples_cpu_ns + paid, ns);
	s->found_ns += paid;
	s->accounted_ns = now;
}

static void *samples(void *arg)
{
	struct trace *t = arg;
	struct sampler *s = t->sampler;
	uint64_t cpu, before, next = snapshot_now();

	go_first();
	sample_once(t, s); /* the first costs more than the rest, and is not measured */
	before = thread_cpu_ns();
	s->accounted_ns = next;
	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		size_t from;
		uint64_t now = snapshot_now();

		next = MAX(next, now) + sample_rate_gap_ns(&s->rate, rng_unit(&s->rng));
		sleep_until(next, now);
		from = s->at >= s->n ? 0 : s->at;
		sample_once(t, s);
		cpu = thread_cpu_ns();
		sample_rate_measured(&s->rate, s->at - from, cpu - before);
		account(s, cpu - before);
		sample_rate_choose(&s->rate, s->n);
		__atomic_fetch_add(&s->told.samples_cpu_ns, cpu - before, __ATOMIC_RELAXED);
		before = cpu;
	}
	return NULL;
}

static int map_order(struct trace *t, struct sampler *s)
{
	int fd = bpf_object__find_map_fd_by_name(t->obj, "sample_keys");
	size_t size = SAMPLED_AT_ONCE * sizeof(*s->order);
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, MAX(size, (size_t)sysconf(_SC_PAGESIZE)),
				PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	s->order = p == MAP_FAILED ? NULL : p;
	return s->order ? 0 : -1;
}

static struct sampler *sampler_new(struct trace *t)
{
	struct sampler *s = calloc(1, sizeof(*s));
	struct bpf_program *p = bpf_object__find_program_by_name(t->obj, "sample_endpoints");

	if (!s)
		return NULL;
	s->room = t->opts.max_endpoints;
	s->keys = calloc(s->room, sizeof(*s->keys));
	s->sample_fd = p ? bpf_program__fd(p) : -1;
	s->last_serial = object_var(t, "last_serial");
	s->births = object_var(t, "births");
	pthread_mutex_init(&s->stalled_lock, NULL);
	t->sampler = s;
	if (s->keys && s->sample_fd >= 0 && !map_order(t, s))
		return s;
	sampler_free(t);
	return NULL;
}

int sampler_start(struct trace *t, struct err *e)
{
	struct sampler *s = t->sampler ? t->sampler : sampler_new(t);

	if (!s)
		return fail_sys(e, ENOMEM, "cannot start to sample", "free some memory");
	sample_rate_begin(&s->rate, t->opts.budget);
	s->found_ns = 0;
	rng_seed(&s->rng, snapshot_now());
	s->told = (struct trace_sampling){
		.on = true, .budget = t->opts.budget, .part = 1, .since_ns = snapshot_now()
	};
	s->find_next_ns = snapshot_now() + FIND_EVERY_NS;
	s->stop = false;
	if (pthread_create(&s->thread, NULL, samples, t))
		return fail_sys(e, EAGAIN, "cannot start the sampling thread",
				"raise the limit of processes");
	s->running = true;
	return 0;
}

void sampler_stop(struct trace *t)
{
	struct sampler *s = t->sampler;

	if (!s || !s->running)
		return;
	__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);
	pthread_join(s->thread, NULL);
	s->running = false;
}

void sampler_free(struct trace *t)
{
	struct sampler *s = t->sampler;

	if (!s)
		return;
	sampler_stop(t);
	if (s->order)
		munmap(s->order,
		       MAX(SAMPLED_AT_ONCE * sizeof(*s->order), (size_t)sysconf(_SC_PAGESIZE)));
	pthread_mutex_destroy(&s->stalled_lock);
	free(s->keys);
	free(s);
	t->sampler = NULL;
}

bool trace_sample_again(struct trace *t, const struct trace_snapshot *s, size_t i,
			struct trace_one_sample *found)
{
	uint64_t args[SAMPLE_ARGS] = { 0, s->samples[i].key, s->ep[i].serial },
		 before = thread_cpu_ns();
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (!t->sampler || bpf_prog_test_run_opts(t->sampler->sample_fd, &o))
		return false;
	sampler_spent(t, thread_cpu_ns() - before);
	*found = (struct trace_one_sample){
		.tx = o.retval & FOUND_TX,
		.rx = o.retval >> FOUND_RX & FOUND_TX,
		.facts = (o.retval & ~FOUND) >> FOUND_FACTS,
	};
	return o.retval & FOUND;
}

size_t trace_take_stalled(struct trace *t, struct trace_stalled *out)
{
	struct sampler *s = t->sampler;
	size_t n;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->stalled_lock);
	n = s->n_stalled;
	if (out)
		memcpy(out, s->stalled, n * sizeof(*out));
	s->n_stalled = 0;
	pthread_mutex_unlock(&s->stalled_lock);
	return n;
}

void trace_sampled(const struct trace *t, struct trace_sampling *out)
{
	*out = t->sampler ? t->sampler->told : (struct trace_sampling){};
}

bool sampler_will_find(const struct trace *t)
{
	const struct sampler *s = t->sampler;

	return s && s->running && snapshot_now() >= s->find_next_ns;
}

void sampler_spent(struct trace *t, uint64_t cpu_ns)
{
	if (t->sampler)
		__atomic_fetch_add(&t->sampler->told.find_ns, cpu_ns, __ATOMIC_RELAXED);
}

/* The cost of this search sets the time until the next, so that searches keep to their share of
 * the budget. */
void sampler_finds(struct trace *t)
{
	struct sampler *s = t->sampler;
	uint64_t before, cost;

	if (!sampler_will_find(t))
		return;
	before = thread_cpu_ns();
	preexisting_again(t);
	cost = thread_cpu_ns() - before;
	sampler_spent(t, cost);
	s->find_next_ns =
		snapshot_now() + gap_for_share(FIND_EVERY_NS, cost, FIND_SHARE * t->opts.budget);
}
