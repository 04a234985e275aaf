// SPDX-License-Identifier: GPL-2.0-only
/* Recordings: what is written is what is read; cut at any byte or damaged in any bit, what is read
 * is still right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "recording/blocks.h"
#include "recording/codec.h"
#include "recording/recording.h"

/* small: the tests below read the file once for each of its bytes */
enum { ENDS = 6, ROUNDS = 2 };

static char path[64];
static uint64_t seed = 1;

static uint64_t noise(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 20;
}

/* figures that hold together: the states add up to the life */
static void fill_ledger(struct trace_ledger *l, uint32_t (*hist)[TRACE_HIST], unsigned int states,
			uint64_t life)
{
	uint64_t left = life;

	for (unsigned int i = 0; i < states; i++) {
		l->ns[i] = i + 1 == states ? left : left / (2 + noise() % 5);
		left -= l->ns[i];
		l->max[i] = l->ns[i];
		l->count[i] = noise() % 100;
		hist[i][noise() % TRACE_HIST] = l->count[i];
		l->resolution[i] = noise() % 3;
	}
	l->lifetime_ns = life;
	l->now = noise() % states;
}

static struct trace_endpoint endpoint(uint64_t serial, uint64_t at, bool closed)
{
	static struct trace_detail details[128]; /* of the last so many endpoints */
	static size_t n;
	struct trace_detail *detail = &details[n++ % 128];
	struct trace_endpoint ep = { .serial = serial,
				     .detail = detail,
				     .netns = 4026531840u,
				     .family = 2,
				     .born_ns = 1000 + serial,
				     .at_ns = at,
				     .closed = closed,
				     .peer = -1 };

	seed = serial * 77 + at; /* one figure for one endpoint at one moment, whoever asks */
	*detail = (struct trace_detail){};
	fill_ledger(&ep.tx, detail->tx_hist, TX_N, at - ep.born_ns);
	fill_ledger(&ep.rx, detail->rx_hist, RX_N, at - ep.born_ns);
	ep.inode = noise();
	ep.proto = 1 + noise() % 6;
	ep.tx_calls.bytes = noise() << 20;
	ep.tx_calls.open_sleep_ns = noise();
	ep.tx_calls.tgid = 1 + noise() % 100000;
	ep.tx_calls.cgroup_id = 1;
	snprintf(ep.tx_calls.comm, sizeof(ep.tx_calls.comm), "p%u", (unsigned int)serial);
	ep.tx_calls.left_ns = noise();
	ep.tx_calls.fd_owner = (pid_t)(noise() % 2);
	snprintf(ep.tx_calls.fd_owner_comm, sizeof(ep.tx_calls.fd_owner_comm), "%s",
		 ep.tx_calls.fd_owner ? "owner" : "");
	ep.blame.delack_n[TX_NAGLE] = noise() % 9;
	ep.drops[TRACE_DROP_RCVBUF] = noise();
	ep.retransmits_res = TRACE_EXACT;
	ep.delack_fires = noise();
	ep.syn_retransmits = noise();
	ep.answers = (struct trace_answers){
		noise(), noise(), { noise(), noise() }, { noise(), noise() }
	};
	return ep;
}

static uint64_t moment(int round)
{
	return 1000000ull * (uint64_t)(round + 1);
}

/* pairs of endpoints are each other's peers; in each round two close and are not seen again */
static void snapshot(struct trace_snapshot *s, int round)
{
	*s = (struct trace_snapshot){ .at_ns = moment(round),
				      .ep = calloc(ENDS, sizeof(*s->ep)),
				      .counters.observed = (uint64_t)round };
	for (int i = 2 * round; i < ENDS; i++) {
		bool closed = i < 2 * round + 2;
		int at = (int)s->n++;

		s->ep[at] = endpoint((uint64_t)i + 1, moment(round), closed);
		s->ep[at].peer = at ^ 1;
	}
}

static struct stall stall(int i)
{
	static const char *const texts[] = { NULL, "write+0x10 (libc.so.6)\nmain+0x3 (a)\n",
		"schedule+0x1 [k]\n" };
	struct stall st = { .s = { .serial = (uint64_t)i % ENDS + 1,
				   .from_ns = 5000 + (uint64_t)i,
				   .to_ns = 45000 + 2 * (uint64_t)i,
				   .state = TX_NAGLE,
				   .by_delack = (enum trace_delack)(i % TRACE_DELACK_N),
				   .kstack = -1,
				   .ustack = -1,
				   .peer_kstack = -1,
				   .peer_ustack = -1,
				   .held = { .known = true, .queued = (uint32_t)i } } };

	for (int k = 0; k < STACKS; k++)
		st.stack[k] = texts[(i + k) % 3];
	return st;
}

static struct trace_transition transition(int i)
{
	struct trace_transition tr = { .serial = (uint64_t)i % ENDS + 1,
		.at_ns = 2000000 + (uint64_t)(i * 7919 % 1000) };

	if (i % 3 == 0) {
		tr.mark = 1 + i % 8;
		tr.bytes = (uint64_t)i << 30;
	} else {
		tr.ns = (uint64_t)i;
		tr.rx = i % 2;
		tr.from = (uint8_t)(i % 4);
		tr.to = (uint8_t)(i % 3);
		tr.closes = i % 5 == 1;
	}
	return tr;
}

enum { STALLS_N = 8, STEPS_N = 24 };

static void write_recording(uint64_t max)
{
	struct recorder *r = recorder_new(path, max);
	json_t *head = json_pack("{s:s}", "hello", "world");
	struct err e = {};

	assert_int_equal(recorder_begin(r, head, &e), 0);
	json_decref(head);
	trace_cgroup_remember(1, "/here");
	for (int i = 0; i < STEPS_N; i++)
		recorder_transition(r, (struct trace_transition[]){ transition(i) });
	for (int i = 0; i < STALLS_N; i++)
		recorder_stall(r, (struct stall[]){ stall(i) });
	for (int i = 0; i < ROUNDS; i++) {
		struct trace_snapshot s;

		snapshot(&s, i);
		assert_int_equal(recorder_snapshot(r, &s, &e), 0);
		free(s.ep);
	}
	assert_int_equal(recorder_close(r, &e), 0);
}

/* by what is written of them: bytes between the fields are nobody's */
static void same_stall(const struct trace_stall *a, const struct trace_stall *b)
{
	struct trace_stall x = *a, y = *b;
	uint64_t none[STACKS] = {};
	struct codec c, d;

	codec_writer(&c);
	codec_writer(&d);
	codec_stall(&c, &x, none);
	codec_stall(&d, &y, none);
	assert_int_equal(c.n, d.n);
	assert_memory_equal(c.v, d.v, c.n);
	codec_free(&c);
	codec_free(&d);
}

static void same_transition(const struct trace_transition *got, struct trace_transition want)
{
	assert_int_equal(got->serial, want.serial);
	assert_int_equal(got->at_ns, want.at_ns);
	assert_int_equal(got->ns, want.ns);
	assert_int_equal(got->bytes, want.bytes);
	assert_int_equal(got->rx, want.rx);
	assert_int_equal(got->from, want.from);
	assert_int_equal(got->to, want.to);
	assert_int_equal(got->closes, want.closes);
	assert_int_equal(got->mark, want.mark);
}

static void same_endpoint(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	struct trace_endpoint x = *a, y = *b;
	struct codec c, d;
	uint64_t none = 0;

	codec_writer(&c);
	codec_writer(&d);
	codec_endpoint(&c, &x, &none);
	codec_endpoint(&d, &y, &none);
	assert_int_equal(c.n, d.n);
	assert_memory_equal(c.v, d.v, c.n);
	codec_free(&c);
	codec_free(&d);
}

/* is this what was written of that endpoint at that moment? */
static void right_endpoint(const struct trace_endpoint *ep)
{
	struct trace_endpoint want = endpoint(ep->serial, ep->at_ns, ep->closed);

	same_endpoint(ep, &want);
}

static void all_comes_back(void **state)
{
	struct recording file;
	struct replay p;
	struct err e = {};

	write_recording(1 << 30);
	assert_int_equal(recording_open(&file, path, &e), 0);
	assert_int_equal(replay_load(&file, NULL, NULL, 10000, &p, &e), 0);
	assert_true(p.state.complete && !p.state.cut && !p.state.damaged && !p.state.unknown);
	assert_int_equal(p.state.snapshots, ROUNDS);
	assert_string_equal(json_string_value(json_object_get(p.state.head, "hello")), "world");
	assert_int_equal(p.end.n, ENDS);
	assert_int_equal(p.end.counters.observed, ROUNDS - 1);
	for (size_t i = 0; i < p.end.n; i++) {
		const struct trace_endpoint *ep = &p.end.ep[i];

		right_endpoint(ep);
		assert_int_equal(p.end.ep[ep->peer].serial, ((ep->serial - 1) ^ 1) + 1);
		assert_int_equal(ep->at_ns,
				 moment(ep->closed ? (int)(ep->serial - 1) / 2 : ROUNDS - 1));
	}
	assert_int_equal(p.stalls.n, STALLS_N);
	for (int i = 0; i < STALLS_N; i++) {
		struct stall want = stall(i);
		const struct stall *got = stalls_at(&p.stalls, (size_t)i);

		same_stall(&got->s, &want.s);
		for (int k = 0; k < STACKS; k++) {
			assert_int_equal(!got->stack[k], !want.stack[k]);
			if (want.stack[k])
				assert_string_equal(got->stack[k], want.stack[k]);
		}
	}
	assert_int_equal(p.timeline.n, STEPS_N);
	for (int i = 0; i < STEPS_N; i++)
		same_transition(timeline_at(&p.timeline, (size_t)i), transition(i));
	replay_free(&p);
	recording_close(&file);
}

static bool is_third(void *ctx, const struct trace_endpoint *ep)
{
	return ep->serial == 3;
}

static void a_filter_keeps_both_ends(void **state)
{
	struct recording file;
	struct replay p;
	struct err e = {};

	write_recording(1 << 30);
	assert_int_equal(recording_open(&file, path, &e), 0);
	assert_int_equal(replay_load(&file, is_third, NULL, 10000, &p, &e), 0);
	assert_int_equal(p.end.n, 2);
	assert_int_equal(p.end.ep[0].serial + p.end.ep[1].serial, 3 + 4);
	assert_int_equal(p.end.ep[0].peer, 1);
	assert_int_equal(p.end.ep[1].peer, 0);
	for (size_t i = 0; i < p.stalls.n; i++)
		assert_in_range(stalls_at(&p.stalls, i)->s.serial, 3, 4);
	assert_int_equal(p.stalls.n, 2 * STALLS_N / ENDS);
	assert_int_equal(p.timeline.n, 2 * STEPS_N / ENDS);
	replay_free(&p);
	recording_close(&file);
}

/* a file by hand: what no recorder would write */
static int begin_by_hand(void)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	size_t n;

	assert_true(fd >= 0);
	assert_int_equal(blocks_write_head(fd), 0);
	assert_int_equal(blocks_write(fd, BLOCK_HEADER, "{}", 2, &n), 0);
	return fd;
}

/* what the session itself did not keep, in each part written by hand */
static struct trace_counters not_kept;

/* as many equal endpoints as are asked for, from this serial on */
static void write_endpoints(int fd, enum block_type type, uint64_t serial, uint64_t n)
{
	struct trace_endpoint ep = { .proto = TRACE_TCP, .born_ns = 1000, .at_ns = 2000,
		.closed = type == BLOCK_CLOSED, .peer = -1 };
	struct part p = { .at_ns = 5000, .n = n, .last = true, .counters = not_kept };
	uint64_t none = 0;
	struct codec c;
	size_t written;

	ep.tx_calls.bytes = 3;
	codec_writer(&c);
	codec_part(&c, &p);
	for (ep.serial = serial; ep.serial < serial + n; ep.serial++) {
		ep.tx.ns[TX_NAGLE] = ep.serial % 100;
		codec_endpoint(&c, &ep, &none);
	}
	assert_int_equal(blocks_write(fd, type, c.v, c.n, &written), 0);
	codec_free(&c);
}

static void load_by_hand(struct replay *p, endpoint_filter want)
{
	struct recording file;
	struct err e = {};

	assert_int_equal(recording_open(&file, path, &e), 0);
	assert_int_equal(replay_load(&file, want, NULL, 100, p, &e), 0);
	recording_close(&file);
}

static bool is_bare_third(void *ctx, const struct trace_endpoint *ep)
{
	return ep->serial % 1000 == 3;
}

static void the_closed_ones_that_are_kept_are_bounded(void **state)
{
	enum { /* four times as many are more than are kept */
	       EACH = (CLOSED_KEPT / 360 + 1) * 100,
	       ROUNDS_HERE = 3,
	       ALL = (4 + ROUNDS_HERE - 1) * EACH };
	int fd = begin_by_hand();
	uint64_t bytes = 0, stall = 0;
	struct replay p;

	for (uint64_t i = 0; i < ROUNDS_HERE;
	     i++) { /* the first brings more than are kept, in one snapshot */
		for (uint64_t k = 0; k < (i < 1 ? 4 : 1); k++)
			write_endpoints(fd, BLOCK_CLOSED, 1 + 5 * EACH * i + EACH * k, EACH);
		write_endpoints(fd, BLOCK_SNAPSHOT, 1, 0);
	}
	close(fd);
	load_by_hand(&p, NULL);
	assert_in_range(p.end.n, CLOSED_KEPT / 2 - 100, CLOSED_KEPT);
	assert_int_equal(p.end.n + p.end.counters.dropped, ALL);
	for (size_t i = 0; i < p.end.n; i++) {
		bytes += p.end.ep[i].tx_calls.bytes;
		stall += p.end.ep[i].tx.ns[TX_NAGLE];
	}
	assert_int_equal(bytes + p.end.counters.dropped_tx_bytes, ALL * 3);
	assert_int_equal(stall + p.end.counters.dropped_stall_ns, ALL * 99 / 2);
	assert_int_equal(p.end.counters.dropped_lifetime_ns, 1000 * p.end.counters.dropped);
	replay_free(&p);
}

/* each came in a block of its own, as where few end between two samples */
static void those_that_stalled_least_go_first(void **state)
{
	enum { ALL = 99 };
	int fd = begin_by_hand();
	struct dropped d = {};
	struct replay p;
	struct stat st;
	uint64_t size;

	for (uint64_t i = 1; i <= ALL; i++)
		write_endpoints(fd, BLOCK_CLOSED, i, 1);
	close(fd);
	fd = open(path, O_RDWR);
	for (int times = 0; times < 2; times++) {
		assert_int_equal(fstat(fd, &st), 0);
		size = (uint64_t)st.st_size;
		assert_int_equal(recording_compact(path, &fd, &size, &d), 0);
		assert_true(size < (uint64_t)st.st_size);
	}
	write_endpoints(fd, BLOCK_SNAPSHOT, 1000, 0);
	close(fd);
	load_by_hand(&p, NULL);
	assert_in_range(p.end.n, ALL / 4, ALL / 4 + 2);
	assert_int_equal(p.end.n + d.closed, ALL);
	for (size_t i = 0; i < p.end.n; i++)
		assert_in_range(p.end.ep[i].serial, ALL - p.end.n + 1, ALL);
	replay_free(&p);
}

/* what a filter asks for is not dropped for what it does not */
static void what_is_wanted_is_kept(void **state)
{
	enum { EACH = (CLOSED_KEPT / 4000 + 1) * 1000 };
	int fd = begin_by_hand();
	struct replay p;

	for (uint64_t i = 0; i < 4; i++) {
		write_endpoints(fd, BLOCK_CLOSED, 1 + EACH * i, EACH);
		write_endpoints(fd, BLOCK_SNAPSHOT, 1, 0);
	}
	close(fd);
	load_by_hand(&p, is_bare_third);
	assert_int_equal(p.end.n, 4 * EACH / 1000);
	assert_int_equal(p.end.counters.dropped, 0);
	replay_free(&p);
}

/* nobody knows any more whether what the session did not keep would have been chosen */
static void what_was_not_kept_is_not_judged_by_a_filter(void **state)
{
	struct trace_snapshot newest = { .counters = { .dropped_stall_ns = 700 } }, so_far;
	struct replay p;
	int fd = begin_by_hand();

	not_kept = (struct trace_counters){ .dropped = 7,
					    .dropped_stall_ns = 700,
					    .dropped_lifetime_ns = 900 };
	write_endpoints(fd, BLOCK_SNAPSHOT, 1, 10);
	not_kept = (struct trace_counters){};
	close(fd);
	load_by_hand(&p, NULL);
	assert_int_equal(p.end.counters.dropped_stall_ns, 700);
	replay_free(&p);
	load_by_hand(&p, is_bare_third);
	assert_int_equal(p.end.n, 1);
	assert_int_equal(p.end.counters.dropped, 7);
	assert_int_equal(p.end.counters.dropped_stall_ns, 0);
	assert_int_equal(p.end.counters.dropped_lifetime_ns, 0);
	assert_int_equal(replay_so_far(&p, &newest, &so_far), 0);
	assert_int_equal(so_far.counters.dropped_stall_ns, 0);
	trace_snapshot_free(&so_far);
	replay_free(&p);
}

static void the_stalls_that_are_kept_are_bounded(void **state)
{
	int fd = begin_by_hand();
	uint64_t n = STALLS_KEPT + 10, none[STACKS] = {};
	struct trace_stall st = { .state = TX_NAGLE };
	struct codec c;
	struct replay p;
	size_t written;

	codec_writer(&c);
	codec_u64(&c, &n);
	for (st.from_ns = 0; st.from_ns < n; st.from_ns++) {
		st.to_ns = st.from_ns + 1;
		codec_stall(&c, &st, none);
	}
	assert_int_equal(blocks_write(fd, BLOCK_STALLS, c.v, c.n, &written), 0);
	codec_free(&c);
	write_endpoints(fd, BLOCK_SNAPSHOT, 1, 0);
	close(fd);
	load_by_hand(&p, NULL);
	assert_int_equal(p.stalls.n, STALLS_KEPT);
	assert_int_equal(p.stalls.dropped, 10);
	assert_int_equal(stalls_at(&p.stalls, 0)->s.from_ns, 10);
	replay_free(&p);
}

static void texts_without_room_are_counted(void **state)
{
	static char text[1 << 20];
	struct stalls l = {};

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 70; i++) {
		text[0] = (char)('!' + i);
		stalls_text(&l, text);
		stalls_text(&l, "");
	}
	assert_int_equal(l.n_texts + stalls_texts_lost(&l), 70);
	assert_in_range(l.n_texts, 60, 64);
	stalls_free(&l);
}

/* a thousand bytes of text for one of the file's: the first 64 MB are believed */
static void texts_are_bounded(void **state)
{
	int fd = begin_by_hand();
	struct replay p;
	char text[65000];

	memset(text, 'x', sizeof(text));
	for (int block = 0; block < 3; block++) {
		struct codec c;
		size_t written;

		codec_writer(&c);
		for (uint64_t i = 0; i < 500; i++) {
			uint64_t number = 1 + 500 * (uint64_t)block + i, cgroup = 0,
				 n = sizeof(text);

			snprintf(text, 16, "%015d", (int)number);
			codec_u64(&c, &number);
			codec_u64(&c, &cgroup);
			codec_u64(&c, &n);
			codec_bytes(&c, text, sizeof(text));
		}
		assert_int_equal(blocks_write(fd, BLOCK_TEXTS, c.v, c.n, &written), 0);
		codec_free(&c);
	}
	write_endpoints(fd, BLOCK_SNAPSHOT, 1, 0);
	close(fd);
	load_by_hand(&p, NULL);
	assert_in_range(p.stalls.n_texts, 900, (64 << 20) / sizeof(text));
	assert_int_equal(p.state.damaged, 1);
	replay_free(&p);
}

/* a file may be anyone's */
static void foreign_names_come_in_clean(void **state)
{
	struct trace_endpoint ep = endpoint(1, 2000000, false), got = {};
	struct trace_stall st = { .tgid = 1, .peer_tgid = 2, .comm = "\x1b]0;x\a",
		.peer_comm = "\xff" }, read = {};
	uint64_t peer = 0, texts[STACKS] = {};
	struct codec out, in;

	memset(ep.tx_calls.comm, 0xd0, sizeof(ep.tx_calls.comm)); /* no end either */
	codec_writer(&out);
	codec_endpoint(&out, &ep, &peer);
	codec_stall(&out, &st, texts);
	codec_reader(&in, out.v, out.n);
	codec_endpoint(&in, &got, &peer);
	codec_stall(&in, &read, texts);
	assert_true(codec_done(&in));
	assert_string_equal(got.tx_calls.comm, "???????????????");
	assert_string_equal(read.comm, "?]0;x?");
	assert_string_equal(read.peer_comm, "?");
	codec_free(&out);
}

/* whatever was done to the bytes: no crash, and no figure that was not written */
static size_t figures_of(const uint8_t *bytes, size_t n, uint64_t *damaged)
{
	struct recording file = { bytes, n, "memory" };
	struct replay p;
	struct err e = {};
	size_t seen = 0;

	if (replay_load(&file, NULL, NULL, 10000, &p, &e) == 0) {
		for (size_t i = 0; i < p.end.n; i++)
			right_endpoint(&p.end.ep[i]);
		for (size_t i = 0; i < p.stalls.n; i++) {
			const struct stall *st = stalls_at(&p.stalls, i);
			struct stall want = stall((int)(st->s.from_ns - 5000));

			same_stall(&st->s, &want.s);
			for (int k = 0; k < STACKS; k++)
				if (st->stack[k])
					assert_string_equal(st->stack[k], want.stack[k]);
		}
		for (size_t i = 0; i < p.end.n;
		     i++) /* a snapshot that is short of an endpoint would be wrong too */
			seen += !p.end.ep[i].closed;
		assert_true(seen == 0 || seen % 2 == 0);
	} else {
		assert_true(e.code == EXIT_DATA || e.code == EXIT_VERSION);
	}
	*damaged = p.state.damaged;
	replay_free(&p);
	return seen;
}

static uint8_t *read_file(size_t *n)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	uint8_t *v;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	*n = (size_t)st.st_size;
	v = malloc(*n);
	assert_int_equal(fread(v, 1, *n, f), *n);
	fclose(f);
	return v;
}

/*
 * Near the border of a block every byte counts for itself. Of the packed content between them each
 * is like the next: some are enough, where THOROUGH does not ask for all.
 */
static bool *telling_bytes(const uint8_t *v, size_t n)
{
	enum { NEAR = 2 * BLOCK_HEAD };
	size_t stride = getenv("THOROUGH") ? 1 : 7;
	bool *tells = calloc(n, sizeof(*tells));
	struct block_reader r;
	struct block b;
	uint32_t version;

	for (size_t i = 0; i < n; i++)
		tells[i] = i % stride == 0 || i < FILE_HEAD || i + NEAR >= n;
	assert_int_equal(blocks_open(&r, v, n, &version), HEAD_GOOD);
	while (blocks_next(&r, &b) == READ_BLOCK)
		for (size_t i = b.offset - (b.offset < NEAR ? b.offset : NEAR);
		     i < n && i < b.offset + NEAR; i++)
			tells[i] = true;
	blocks_close(&r);
	return tells;
}

/* what a crash leaves is no damage: a file that ends early */
static void cut_at_any_byte(void **state)
{
	uint8_t *v, *part;
	size_t n, last = 0, grew = 0;
	uint64_t damaged;
	bool *tells;

	write_recording(1 << 30);
	v = read_file(&n);
	tells = telling_bytes(v, n);
	for (size_t i = 0; i < n; i++) {
		size_t live;

		if (!tells[i])
			continue;
		part = malloc(i + 1); /* its own, so that a read beyond it is found */
		memcpy(part, v, i);
		live = figures_of(part, i, &damaged);
		free(part);
		assert_true(i < FILE_HEAD || !damaged);
		grew += live && live != last;
		last = live;
	}
	assert_int_equal(grew, ROUNDS); /* each whole snapshot counts from its last byte on */
	free(tells);
	free(v);
}

static struct recording_state state_of(const uint8_t *bytes, size_t n, bool *shown)
{
	struct recording file = { bytes, n, "memory" };
	struct recording_state st;
	struct replay p;
	struct err e = {};

	*shown = replay_load(&file, NULL, NULL, 10000, &p, &e) == 0;
	st = p.state;
	replay_free(&p);
	st.head = NULL;
	return st;
}

/* nor is one whose end was never written */
static void an_end_that_was_not_written_is_no_damage(void **state)
{
	struct recording_state st;
	size_t n;
	bool shown;
	uint8_t *v;

	write_recording(1 << 30);
	v = read_file(&n);
	memset(v + n - BLOCK_HEAD, 0, BLOCK_HEAD);
	st = state_of(v, n, &shown);
	assert_true(shown && st.cut && !st.damaged && st.snapshots == ROUNDS);
	free(v);
}

static void what_follows_a_damaged_head_is_read(void **state)
{
	struct block_reader r;
	struct block b;
	uint32_t version;
	size_t n, seen = 0;
	bool shown;
	uint8_t *v;

	write_recording(1 << 30);
	v = read_file(&n);
	assert_int_equal(blocks_open(&r, v, n, &version), HEAD_GOOD);
	while (blocks_next(&r, &b) == READ_BLOCK) {
		uint32_t type = b.type;
		struct recording_state st;

		v[b.offset + 5] ^= 1; /* its length */
		st = state_of(v, n, &shown);
		v[b.offset + 5] ^= 1;
		assert_true(st.damaged == 1 && !st.cut);
		assert_int_equal(st.complete, type != BLOCK_END);
		assert_int_equal(shown, type != BLOCK_HEADER);
		assert_true(st.snapshots >= ROUNDS - 1);
		if (type == BLOCK_EVENTS || type == BLOCK_STALLS)
			assert_int_equal(st.snapshots, ROUNDS);
		seen++;
	}
	blocks_close(&r);
	assert_true(seen > ROUNDS);
	free(v);
}

static void a_bit_of_any_byte(void **state)
{
	uint8_t *v;
	size_t n;
	uint64_t damaged;
	bool *tells;

	write_recording(1 << 30);
	v = read_file(&n);
	tells = telling_bytes(v, n);
	for (size_t i = 0; i < n; i++) {
		uint8_t bit = (uint8_t)(1 << (i * 5 % 8));

		if (!tells[i])
			continue;
		v[i] ^= bit;
		figures_of(v, n, &damaged);
		v[i] ^= bit;
	}
	free(tells);
	free(v);
}

/* checksums keep most of it away: what passes them must still be looked at */
static void wrong_content_with_right_checksums(void **state)
{
	uint8_t content[400];
	size_t written;

	for (int round = 0; round < 1000; round++) {
		FILE *f = fopen(path, "w+");
		uint8_t *v;
		size_t n = (size_t)round % sizeof(content);

		for (size_t i = 0; i < n; i++)
			content[i] = (uint8_t)(noise() % (round % 2 ? 256 : 3));
		assert_int_equal(blocks_write_head(fileno(f)), 0);
		for (int type = 1; type <= BLOCK_END + 1; type++)
			assert_int_equal(blocks_write(fileno(f), (enum block_type)type, content, n,
						      &written),
					 0);
		fclose(f);
		v = read_file(&n);
		struct recording file = { v, n, "memory" };
		struct replay p;
		struct err e = {};

		replay_load(&file, NULL, NULL, 1000, &p, &e);
		replay_free(&p);
		free(v);
	}
}

/* of the recording, and of what stands beside it and is the user's */
static void is_as_it_was(const char *beside, mode_t mode, uid_t owner)
{
	struct stat st;
	glob_t all;
	char any[80];

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	assert_int_equal(st.st_uid, owner);
	assert_int_equal(stat(beside, &st), 0);
	assert_int_equal(st.st_size, 4);
	snprintf(any, sizeof(any), "%s.*", path);
	assert_int_equal(glob(any, 0, NULL, &all), 0);
	assert_int_equal(all.gl_pathc, 2); /* and a link */
	globfree(&all);
}

/* Forty that live on, twenty that close, and more steps than there is room for. */
static void record_a_round(struct recorder *r, uint64_t round)
{
	struct trace_snapshot s = { .at_ns = 10000000 + round, .n = 60,
				    .ep = calloc(60, sizeof(*s.ep)) };
	struct err e = {};
	struct stat st;

	for (uint64_t i = 0; i < 60; i++)
		s.ep[i] = endpoint(i < 40 ? i + 1 : 1000 + 20 * round + i, s.at_ns, i >= 40);
	for (int i = 0; i < 3000; i++)
		recorder_transition(
			r, (struct trace_transition[]){ transition((int)(noise() % 100000)) });
	if (recorder_snapshot(r, &s, &e))
		fail_msg("round %u: %s", (unsigned int)round, e.text);
	free(s.ep);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= 1 << 20 && (uint64_t)st.st_size == recorder_size(r));
}

static void never_larger_than_asked(void **state)
{
	enum { ROUNDS_HERE = 120 };
	char link[80], beside[80];
	uid_t owner = geteuid() ? geteuid() : 12345;
	struct recorder *r;
	json_t *head = json_pack("{s:s}", "hello", "world");
	struct recording file;
	struct dropped d;
	struct replay p;
	struct err e = {};
	struct stat st;
	uint64_t closed = 0;

	snprintf(link, sizeof(link), "%s.link", path);
	assert_int_equal(symlink(path, link), 0);
	snprintf(beside, sizeof(beside), "%s.tmp", path);
	close(open(beside, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(truncate(beside, 4), 0);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(chown(path, owner, getegid()), 0);
	r = recorder_new(link, 1 << 20);
	assert_int_equal(recorder_begin(r, head, &e), 0);
	json_decref(head);
	for (uint64_t round = 0; round < ROUNDS_HERE; round++)
		record_a_round(r, round);
	d = *recorder_dropped(r);
	is_as_it_was(beside, 0640, owner);
	assert_int_equal(unlink(beside), 0);
	assert_true(d.events && d.closed && d.snapshots);
	assert_int_equal(recorder_close(r, &e), 0);
	assert_true(lstat(link, &st) == 0 &&
		    S_ISLNK(st.st_mode)); /* what is replaced is the file behind it */
	unlink(link);
	assert_int_equal(recording_open(&file, path, &e), 0);
	assert_int_equal(replay_load(&file, NULL, NULL, 1 << 30, &p, &e), 0);
	assert_true(p.state.complete && !p.state.damaged);
	assert_memory_equal(&p.state.dropped, &d, sizeof(d));
	for (size_t i = 0; i < p.end.n; i++) {
		right_endpoint(&p.end.ep[i]);
		closed += p.end.ep[i].closed;
	}
	assert_int_equal(p.end.n - closed, 40);
	/* none is missing without being counted */
	assert_int_equal(closed + d.closed, ROUNDS_HERE * 20);
	assert_int_equal(p.timeline.n + d.events, ROUNDS_HERE * 3000);
	assert_int_equal(p.state.snapshots + d.snapshots, ROUNDS_HERE);
	assert_int_equal(p.end.counters.dropped, d.closed);
	replay_free(&p);
	recording_close(&file);
}

static void a_full_disk_is_told(void **state)
{
	struct recorder *r = recorder_new("/dev/full", 1 << 20);
	json_t *head = json_object();
	struct err e = {};

	assert_int_equal(recorder_begin(r, head, &e), -1);
	assert_int_equal(e.code, EXIT_IO);
	json_decref(head);
	recorder_close(r, &e);
}

static void others_are_refused(void **state)
{
	static const struct {
		const char *content;
		enum exit_code code;
	} rows[] = { { "", EXIT_DATA }, { "{}", EXIT_DATA }, { "ipcstall and more of it",
		EXIT_DATA } };
	struct recording file;
	struct replay p;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = {};
		FILE *f = fopen(path, "w");

		fputs(rows[i].content, f);
		fclose(f);
		if (recording_open(&file, path, &e) == 0) {
			assert_int_equal(replay_load(&file, NULL, NULL, 10, &p, &e), -1);
			replay_free(&p);
			recording_close(&file);
		}
		assert_int_equal(e.code, rows[i].code);
	}
}

/* --- files of other builds -------------------------------------------------------------------- */

struct pair_of {
	uint64_t a, b;
};

static void walk_a(struct codec *c, void *what)
{
	codec_u64(c, &((struct pair_of *)what)->a);
}

static void walk_b(struct codec *c, void *what)
{
	codec_u64(c, &((struct pair_of *)what)->b);
}

static void walk_both(struct codec *c, void *what)
{
	walk_a(c, what);
	walk_b(c, what);
}

/* What one build writes and another reads. */
static struct pair_of passed_on(const struct codec_section *writes, size_t n,
				const struct codec_section *reads, size_t m, struct codec *in)
{
	struct pair_of from = { 300, 70000 }, to = {};
	struct codec out;

	codec_writer(&out);
	codec_sections(&out, writes, n, &from);
	assert_false(out.bad);
	codec_reader(in, out.v, out.n);
	codec_sections(in, reads, m, &to);
	assert_true(codec_done(in));
	codec_free(&out);
	return to;
}

static const struct codec_section only_a[] = { { 1, "a", walk_a } },
				  a_and_b[] = { { 1, "a", walk_a }, { 2, "b", walk_b } },
				  b_and_a[] = { { 2, "b", walk_b }, { 1, "a", walk_a } },
				  longer_a[] = { { 1, "a", walk_both } };

static void unknown_sections_are_passed_over(void **state)
{
	struct codec in;
	struct pair_of got = passed_on(a_and_b, 2, only_a, 1, &in);

	assert_int_equal(got.a, 300);
	assert_int_equal(in.unknown, 1);
	assert_int_equal(in.lacks, 0);
}

static void sections_that_are_missing_are_told(void **state)
{
	struct codec in;
	struct pair_of got = passed_on(only_a, 1, b_and_a, 2, &in);

	assert_int_equal(got.a, 300);
	assert_int_equal(got.b, 0);
	assert_int_equal(in.lacks, 1); /* row 0 */
	assert_int_equal(in.unknown, 0);
}

static void a_longer_section_is_read_as_far_as_it_is_known(void **state)
{
	struct codec in;
	struct pair_of got = passed_on(longer_a, 1, only_a, 1, &in);

	assert_int_equal(got.a, 300);
	assert_int_equal(in.lacks, 0);
}

static void a_shorter_section_is_told(void **state)
{
	struct codec in;
	struct pair_of got = passed_on(only_a, 1, longer_a, 1, &in);

	assert_int_equal(got.a, 300);
	assert_int_equal(got.b, 0);
	assert_int_equal(in.lacks, 1);
}

static void lists_of_another_length(void **state)
{
	uint64_t three[3] = { 1, 2, 3 }, two[2] = {}, four[4] = { 9, 9, 9, 9 };
	struct codec out, in;

	codec_writer(&out);
	codec_list(&out, three, 3);
	codec_reader(&in, out.v, out.n);
	codec_list(&in, two, 2);
	assert_true(codec_done(&in) && two[0] == 1 && two[1] == 2);
	codec_reader(&in, out.v, out.n);
	codec_list(&in, four, 4);
	assert_true(codec_done(&in) && four[2] == 3 && four[3] == 9 && in.short_of);
	codec_free(&out);
}

/* an endpoint without the sections from a row on, as an older build would have written it */
static void an_endpoint_of_an_older_build(void **state)
{
	struct trace_endpoint ep = endpoint(1, 1000, false), got = {};
	uint64_t peer = 0;
	struct codec out, in;
	size_t sections = 0;

	while (codec_endpoint_section(sections))
		sections++;
	codec_writer(&out);
	codec_endpoint(&out, &ep, &peer);
	out.v[0] = (uint8_t)(sections -
			     2); /* the number of sections; the last two are then no part of it */
	codec_reader(&in, out.v, out.n);
	codec_endpoint(&in, &got, &peer);
	assert_false(in.bad);
	assert_int_equal(in.lacks, 3u << (sections - 2));
	assert_int_equal(got.serial, ep.serial);
	assert_int_equal(got.tx.ns[TX_NAGLE], ep.tx.ns[TX_NAGLE]);
	out.v[0] = 0;
	codec_reader(&in, out.v, 1);
	codec_endpoint(&in, &got, &peer);
	assert_true(in.bad); /* without an identity it is no endpoint */
	codec_free(&out);
}

static void numbers_come_back(void **state)
{
	const uint64_t v[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 32, INT64_MAX,
		UINT64_MAX };
	struct codec c, in;

	codec_writer(&c);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		uint64_t u = v[i];
		int64_t s = -(int64_t)(v[i] >> 1);

		codec_u64(&c, &u);
		codec_i64(&c, &s);
	}
	codec_reader(&in, c.v, c.n);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		uint64_t u = 0;
		int64_t s = 0;

		codec_u64(&in, &u);
		codec_i64(&in, &s);
		assert_true(u == v[i] && s == -(int64_t)(v[i] >> 1));
	}
	assert_true(codec_done(&in));
	codec_free(&c);
	codec_reader(&in, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10); /* 65 bits */
	codec_u64(&in, &(uint64_t){ 0 });
	assert_true(in.bad);
}

static int begin(void **state)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/ipcstall-rec-XXXXXX");
	fd = mkstemp(path);
	trace_cgroup_offline();
	return fd < 0 || close(fd);
}

static int end(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(unknown_sections_are_passed_over),
		cmocka_unit_test(sections_that_are_missing_are_told),
		cmocka_unit_test(a_longer_section_is_read_as_far_as_it_is_known),
		cmocka_unit_test(a_shorter_section_is_told),
		cmocka_unit_test(lists_of_another_length),
		cmocka_unit_test(an_endpoint_of_an_older_build), cmocka_unit_test(all_comes_back),
		cmocka_unit_test(a_filter_keeps_both_ends), cmocka_unit_test(cut_at_any_byte),
		cmocka_unit_test(a_bit_of_any_byte),
		cmocka_unit_test(wrong_content_with_right_checksums),
		cmocka_unit_test(an_end_that_was_not_written_is_no_damage),
		cmocka_unit_test(what_follows_a_damaged_head_is_read),
		cmocka_unit_test(never_larger_than_asked), cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(others_are_refused), cmocka_unit_test(foreign_names_come_in_clean),
		cmocka_unit_test(the_closed_ones_that_are_kept_are_bounded),
		cmocka_unit_test(those_that_stalled_least_go_first),
		cmocka_unit_test(what_is_wanted_is_kept),
		cmocka_unit_test(what_was_not_kept_is_not_judged_by_a_filter),
		cmocka_unit_test(the_stalls_that_are_kept_are_bounded),
		cmocka_unit_test(texts_are_bounded),
		cmocka_unit_test(texts_without_room_are_counted),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
