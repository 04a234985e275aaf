// SPDX-License-Identifier: GPL-2.0-only OR MIT
// In place of a benchmark's worker: obeys its coordinator's orders and reports after each. Begins with the order to open, which the worker
// had read before it became this program.
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "end.hh"

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace {

// The coordinator's clock: the same counter, the same rate.
struct ticks : stopwatch {
	bool tsc;
	uint64_t mult;
	unsigned shift;

	uint64_t now() const
	{
#if defined(__x86_64__) || defined(__i386__)
		unsigned cpu;

		if (tsc)
			return __rdtscp(&cpu);
#endif
		timespec t;

		clock_gettime(CLOCK_MONOTONIC, &t);
		return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
	}
	uint64_t ns_of(uint64_t t) const { return uint64_t((unsigned __int128)t * mult >> shift); }
	uint64_t of_ns(uint64_t ns) const { return uint64_t(((unsigned __int128)ns << shift) / mult); }
	uint64_t ns() const override { return ns_of(now()); }
};

// What the server's threads count of a phase. They are done with it before the client says that the phase is over.
struct counts : received {
	const ticks *clock = nullptr;
	shared *sh = nullptr;
	uint64_t calls = 0, messages = 0, bytes = 0, unclocked = 0, from = 0, now = 0;
	uint64_t slice_from = 0, slice_bytes = 0;
	std::atomic<uint64_t> slice_ticks{0}; // the phase has begun when it is known; a first part may be there already
	size_t n_slices = 0;

	void clear()
	{
		calls = messages = bytes = unclocked = from = now = slice_from = slice_bytes = 0;
		n_slices = 0;
	}
	void call() override { calls++; }
	void end_slice()
	{
		if (n_slices == MAX_SLICES || now <= slice_from)
			return;
		sh->slices[n_slices++] = { now - slice_from, bytes - slice_bytes };
		slice_from = now;
		slice_bytes = bytes;
	}
	// The first part starts the time, and is in nobody's slice.
	void part(size_t n) override
	{
		now = clock->now();
		bytes += n;
		if (!messages++) {
			from = slice_from = now;
			unclocked = slice_bytes = bytes;
		} else if (slice_ticks && now - slice_from >= slice_ticks) {
			end_slice();
		}
	}
	// A rest too short for a slice lengthens the one before it.
	void end_last_slice()
	{
		if (now - slice_from > slice_ticks / 2 || !n_slices)
			end_slice();
		if (now <= slice_from || !n_slices)
			return;
		sh->slices[n_slices - 1].ticks += now - slice_from;
		sh->slices[n_slices - 1].bytes += bytes - slice_bytes;
	}
};

struct worker {
	role who;
	int orders, reports, listener = -1, fd = -1;
	shared *sh;
	uint64_t *samples;
	ticks clock;
	counts counted;
	std::unique_ptr<rpc_end> end;
	bool called = false;
	rpc_facts rpc = RPC_FACTS_UNKNOWN;

	tally &mine() { return sh->tally[who]; }
	const worker_job &job() const { return sh->job; }
};

void on_signal(int) {}

// Interrupts the wait for the end of a phase: whoever stands for the other host sends it.
void let_alarms_interrupt()
{
	struct sigaction sa = {};

	sa.sa_handler = on_signal;
	sigaction(SIGALRM, &sa, nullptr);
	signal(SIGPIPE, SIG_IGN);
}

// A descriptor of the socket that stays ours; its owner is the library.
void adopt(worker &w, int fd)
{
	w.fd = dup(fd);
	if (w.fd < 0)
		throw failure(FAIL_RESOURCE, "descriptor: none is left; raise the limit");
}

void do_open(worker &w)
{
	uint64_t t0 = w.clock.now();
	int fd;

	w.end = rpc_end_make(w.job());
	if (w.who == ROLE_SERVER) {
		w.listener = socket_listen(w.job(), w.sh->server);
		return;
	}
	fd = socket_connect(w.job(), w.sh->server, w.sh->client);
	adopt(w, fd);
	w.end->connect(fd);
	w.rpc.connect_ns = int64_t(w.clock.ns_of(w.clock.now() - t0));
}

void do_accept(worker &w)
{
	int fd;

	if (w.who == ROLE_CLIENT)
		return;
	fd = socket_accept(w.job(), w.listener, w.sh->client);
	adopt(w, fd);
	w.end->serve(fd, w.counted);
}

void run_done(worker &w)
{
	__atomic_store_n(&w.sh->done, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &w.sh->done, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool client_done(const worker &w)
{
	return __atomic_load_n(&w.sh->done, __ATOMIC_ACQUIRE);
}

bool is_last(const phase &p, uint64_t i, uint64_t now, uint64_t deadline)
{
	return i + 1 >= p.max_count || (now >= deadline && i + 1 >= p.min_count);
}

// The first call of the process sets up what the others find there; it is in no phase.
void first_call(worker &w)
{
	uint64_t t0 = w.clock.now();

	if (w.called)
		return;
	w.end->call();
	w.rpc.first_call_ns = w.rpc.connect_ns + int64_t(w.clock.ns_of(w.clock.now() - t0));
	w.called = true;
}

void calls(worker &w, const phase &p)
{
	uint64_t from = w.clock.now(), prev = from, deadline = from + w.clock.of_ns(p.duration_ns), i = 0;

	for (bool last = false; !last; i++) {
		uint64_t now;

		last = is_last(p, i, prev, deadline) || i + 1 >= w.job().max_samples;
		if (last)
			__atomic_store_n(&w.sh->last, i, __ATOMIC_RELEASE);
		w.end->call();
		now = w.clock.now();
		w.samples[i] = now - prev;
		prev = now;
	}
	w.mine().n = p.record ? i : 0;
	w.mine().from = from;
	w.mine().to = prev;
	w.mine().messages = i;
	w.mine().bytes = i * w.job().size;
}

void stream(worker &w, const phase &p)
{
	uint64_t from = w.clock.now(), now = from, deadline = from + w.clock.of_ns(p.duration_ns), n = 0;

	w.end->stream_begin();
	for (bool last = false; !last; n++) {
		last = is_last(p, n, now, deadline);
		if (last)
			__atomic_store_n(&w.sh->total, (n + 1) * w.job().size, __ATOMIC_RELEASE);
		w.end->stream_put();
		now = w.clock.now();
	}
	w.end->stream_end();
	w.mine().from = from;
	w.mine().to = w.clock.now();
	w.mine().messages = n;
	w.mine().bytes = n * w.job().size;
}

void client_phase(worker &w, const phase &p)
{
	if (w.job().test == TEST_THROUGHPUT)
		stream(w, p);
	else
		calls(w, p);
	run_done(w);
}

void server_phase(worker &w, const phase &p)
{
	tally &t = w.mine();
	counts &c = w.counted;
	timespec pause = { 0, 100000000 };

	c.slice_ticks = w.clock.of_ns(p.slice_ns);
	while (!client_done(w))
		syscall(SYS_futex, &w.sh->done, FUTEX_WAIT, 0, &pause, nullptr, 0);
	if (w.job().test != TEST_THROUGHPUT) {
		t.n = t.messages = c.calls;
		return;
	}
	c.end_last_slice();
	t.n_slices = c.n_slices;
	t.from = c.from;
	t.to = c.now;
	t.n = t.messages = c.messages;
	t.bytes = c.bytes;
	t.unclocked = c.unclocked;
}

int64_t us(timeval t)
{
	return int64_t(t.tv_sec) * 1000000 + t.tv_usec;
}

void usage_since(worker_usage &u, const rusage &a)
{
	rusage b;

	getrusage(RUSAGE_SELF, &b);
	u.voluntary = b.ru_nvcsw - a.ru_nvcsw;
	u.involuntary = b.ru_nivcsw - a.ru_nivcsw;
	u.user_us = us(b.ru_utime) - us(a.ru_utime);
	u.system_us = us(b.ru_stime) - us(a.ru_stime);
	u.cpu_last = sched_getcpu();
	u.pid = getpid();
}

// With another host the client's first message waits until that host has begun to count.
void await_start(const worker &w)
{
	timespec pause = { 0, 20000 };

	while (w.job().remote && w.who == ROLE_CLIENT && !__atomic_load_n(&w.sh->started, __ATOMIC_ACQUIRE))
		nanosleep(&pause, nullptr);
}

void do_phase(worker &w, const phase &p)
{
	rusage before;

	memset(static_cast<void *>(&w.mine()), 0, sizeof(tally));
	if (w.who == ROLE_CLIENT)
		await_start(w);
	if (w.who == ROLE_CLIENT)
		first_call(w);
	w.mine().usage.cpu_first = sched_getcpu();
	getrusage(RUSAGE_SELF, &before);
	if (w.who == ROLE_CLIENT)
		client_phase(w, p);
	else
		server_phase(w, p);
	usage_since(w.mine().usage, before);
	w.counted.clear();
}

void do_facts(worker &w)
{
	socket_facts_of(w.fd, w.mine().facts);
	if (w.who == ROLE_CLIENT) {
		marshalling m = w.end->marshal(w.clock);

		w.rpc.marshal_ns = m.write_ns;
		w.rpc.unmarshal_ns = m.read_ns;
		w.rpc.marshalled_bytes = m.bytes;
	}
	snprintf(w.rpc.library, sizeof(w.rpc.library), "%s", rpc_library);
	w.mine().rpc = w.rpc;
}

void obey(worker &w, const order_msg &o)
{
	switch (o.order) {
	case ORDER_OPEN:
		return do_open(w);
	case ORDER_ACCEPT:
		return do_accept(w);
	case ORDER_PHASE:
		return do_phase(w, o.phase);
	case ORDER_FACTS:
		return do_facts(w);
	case ORDER_QUIT:
		return;
	}
}

void say(worker_report &m, const worker &w, int code, const char *text)
{
	m.ok = false;
	m.err.code = code;
	snprintf(m.err.text, sizeof(m.err.text), "%s: %s", w.who == ROLE_CLIENT ? "client" : "server", text);
	for (char *c = m.err.text; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

bool report_on(worker &w, const order_msg &o)
{
	worker_report m = {};

	m.ok = true;
	try {
		obey(w, o);
	} catch (const failure &f) {
		say(m, w, f.code, f.what());
	} catch (const std::exception &x) {
		say(m, w, FAIL_PEER, x.what());
	}
	return write(w.reports, &m, sizeof(m)) == sizeof(m) && m.ok;
}

bool next_order(const worker &w, order_msg &o)
{
	ssize_t n;

	do
		n = read(w.orders, &o, sizeof(o));
	while (n < 0 && errno == EINTR);
	return n == sizeof(o);
}

// The bytes end where the file ends.
void *map(const char *fd_text, const char *bytes_text)
{
	int fd = atoi(fd_text);
	size_t bytes = strtoul(bytes_text, nullptr, 10);
	struct stat st;
	char *p;

	if (fstat(fd, &st) || size_t(st.st_size) < bytes)
		_exit(WORKER_OTHER_ABI);
	p = static_cast<char *>(mmap(nullptr, size_t(st.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	if (p == MAP_FAILED)
		_exit(WORKER_OTHER_ABI);
	close(fd);
	return p + size_t(st.st_size) - bytes;
}

enum { ARG_ABI = 1, ARG_ROLE, ARG_ORDERS, ARG_REPORTS, ARG_SHARED, ARG_SAMPLES, ARG_SHARED_BYTES, ARG_SAMPLES_BYTES, ARGS };

void set_up(worker &w, char **argv)
{
	w.who = role(atoi(argv[ARG_ROLE]));
	w.orders = atoi(argv[ARG_ORDERS]);
	w.reports = atoi(argv[ARG_REPORTS]);
	w.sh = static_cast<shared *>(map(argv[ARG_SHARED], argv[ARG_SHARED_BYTES]));
	w.samples = static_cast<uint64_t *>(map(argv[ARG_SAMPLES], argv[ARG_SAMPLES_BYTES]));
	w.clock.tsc = w.job().tsc;
	w.clock.mult = w.job().clock_mult;
	w.clock.shift = w.job().clock_shift;
	w.counted.clock = &w.clock;
	w.counted.sh = w.sh;
}

} // namespace

int main(int argc, char **argv)
{
	order_msg o = {};
	worker *w;

	if (argc != ARGS || atoi(argv[ARG_ABI]) != WORKER_ABI || strtoul(argv[ARG_SHARED_BYTES], nullptr, 10) != sizeof(shared)) {
		fprintf(stderr, "%s: started by 'ipcstall --mode', of the same version\n", argv[0]);
		return WORKER_OTHER_ABI;
	}
	w = new worker; // never deleted: the library's threads may still use it
	set_up(*w, argv);
	let_alarms_interrupt();
	o.order = ORDER_OPEN;
	do {
		if (!report_on(*w, o))
			_exit(1);
	} while (next_order(*w, o) && o.order != ORDER_QUIT);
	_exit(0);
}
