// SPDX-License-Identifier: GPL-2.0-only
/* The judge of a fix that is tried on a running program, and options set and undone on descriptors
 * of this process. */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "try/live_trial.h"
#include "try/spelling.h"
#include "try/changed_fds.h"

enum { SECOND = 1000000000 };

/* Windows of a second; each of them varies by a hundredth, in turns. */
static struct window window(double delivered, double sent, double stalled, size_t round)
{
	double turn = 1 + 0.01 * ((double)(round % 3) - 1);

	return (struct window){ .to_ns = SECOND,
				.time_ns = SECOND,
				.messages = (uint64_t)(delivered / 1000),
				.bytes = (uint64_t)(sent * turn),
				.delivered = (uint64_t)(delivered * turn),
				.stall_ns = (uint64_t)(stalled * SECOND),
				.cause_ns = (uint64_t)(stalled * SECOND) };
}

struct figures {
	double delivered, sent, stalled;
};

static struct live_trial judged(struct figures without, struct figures with)
{
	struct live_trial t = { .messages_known = true, .n = 8 };
	struct rng rng;

	for (size_t i = 0; i < t.n; i++) {
		t.rounds[i].w[0] = window(without.delivered, without.sent, without.stalled, i);
		t.rounds[i].w[1] = window(without.delivered, without.sent, without.stalled, i + 1);
		t.rounds[i].w[2] = window(with.delivered, with.sent, with.stalled, i + 2);
	}
	rng_seed(&rng, 1);
	trial_judge(&t, 2, &rng);
	return t;
}

static void what_brings_more_is_proven(void **state)
{
	struct live_trial t = judged((struct figures){ 24000, 24000, 0.97 },
				     (struct figures){ 960000, 960000, 0.01 });

	assert_int_equal(t.outcome, TRIAL_PROVEN);
	assert_false(t.by_stall);
	assert_true(t.rate.ratio > 38 && t.rate.ratio < 42);
}

static void what_brings_nothing_is_refuted(void **state)
{
	struct live_trial t = judged((struct figures){ 24000, 24000, 0.97 },
				     (struct figures){ 24000, 24000, 0.97 });

	assert_int_equal(t.outcome, TRIAL_REFUTED);
}

/* ten requests a second, each 40 ms late: no more come without the stall, but each is sooner */
static void a_program_at_its_own_pace_is_judged_by_its_stall(void **state)
{
	struct live_trial t = judged((struct figures){ 10000, 10000, 0.4 },
				     (struct figures){ 10000, 10000, 0.001 });

	assert_int_equal(t.outcome, TRIAL_PROVEN);
	assert_true(t.by_stall);
}

/* the same, but twice as much was sent as arrived: the rest lies in the buffer that was made larger
 */
static void a_buffer_that_only_fills_proves_nothing(void **state)
{
	struct live_trial t = judged((struct figures){ 10000, 10000, 0.97 },
				     (struct figures){ 10000, 20000, 0.001 });

	assert_int_equal(t.outcome, TRIAL_REFUTED);
	assert_false(t.by_stall);
}

static void what_arrives_more_slowly_is_not_proven_by_its_stall(void **state)
{
	struct live_trial t = judged((struct figures){ 10000, 10000, 0.4 },
				     (struct figures){ 5000, 5000, 0.001 });

	assert_int_not_equal(t.outcome, TRIAL_PROVEN);
}

/* The ledger slows the program down to a third: the gain is that of the windows without it. */
static void the_gain_is_that_without_the_ledger(void **state)
{
	struct live_trial t = judged((struct figures){ 24000, 24000, 0.97 },
				     (struct figures){ 960000, 960000, 0.01 });
	struct rng rng;

	for (t.n_unwatched = 0; t.n_unwatched < 8; t.n_unwatched++) {
		struct window *w = t.unwatched[t.n_unwatched].w;

		w[0] = window(24000, 0, 0, t.n_unwatched);
		w[1] = window(24000, 0, 0, t.n_unwatched + 1);
		w[2] = window(2880000, 0, 0, t.n_unwatched + 2);
	}
	rng_seed(&rng, 1);
	trial_judge_unwatched(&t, 2, &rng);
	assert_int_equal(t.outcome, TRIAL_PROVEN);
	assert_true(t.rate.ratio > 114 && t.rate.ratio < 126);
	assert_true(t.per_s[0] > 23 && t.per_s[0] < 25);
	assert_true(t.per_s[1] > 2800 && t.per_s[1] < 2960);
}

static void what_gains_with_the_ledger_alone_is_not_proven(void **state)
{
	struct live_trial t = judged((struct figures){ 24000, 24000, 0.97 },
				     (struct figures){ 960000, 960000, 0.01 });
	struct rng rng;

	for (t.n_unwatched = 0; t.n_unwatched < 8; t.n_unwatched++)
		for (int k = 0; k < TRIAL_WINDOWS; k++)
			t.unwatched[t.n_unwatched].w[k] =
				window(960000, 0, 0, t.n_unwatched + (size_t)k);
	rng_seed(&rng, 1);
	trial_judge_unwatched(&t, 2, &rng);
	assert_int_not_equal(t.outcome, TRIAL_PROVEN);
}

static void what_a_process_writes_elsewhere_is_not_what_it_sends(void **state)
{
	struct live_trial t = judged((struct figures){ 24000, 24000, 0.97 },
				     (struct figures){ 960000, 960000, 0.01 });

	assert_false(trial_sends_all_it_writes(&t));
	for (size_t i = 0; i < t.n; i++)
		for (int k = 0; k < TRIAL_WINDOWS; k++)
			t.rounds[i].w[k].written = t.rounds[i].w[k].bytes;
	assert_true(trial_sends_all_it_writes(&t));
	t.rounds[0].w[2].written += 1000000;
	assert_false(trial_sends_all_it_writes(&t));
}

/* --- options ---------------------------------------------------------------------------------- */

static int connected(int ends[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	assert_false(bind(l, (struct sockaddr *)&a, len) || listen(l, 1) ||
		     getsockname(l, (struct sockaddr *)&a, &len));
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_false(connect(ends[0], (struct sockaddr *)&a, len));
	ends[1] = accept(l, NULL, NULL);
	return close(l);
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_false(fstat(fd, &st));
	return st.st_ino;
}

static int option(int fd, int level, int opt)
{
	int v = -1;
	socklen_t len = sizeof(v);

	getsockopt(fd, level, opt, &v, &len);
	return v;
}

static void take(struct changed_fds *w, const char *setting, int fd, int expected)
{
	struct fd_ref ref;

	*w = (struct changed_fds){ .setting = setting_find(setting) };
	assert_int_equal(fd_ref_find(&ref, getpid(), inode_of(fd)), 0);
	assert_int_equal(changed_fds_add(w, ref), expected);
}

static void an_option_is_set_and_undone(void **state)
{
	static struct changed_fds w;
	int ends[2];

	connected(ends);
	take(&w, "nodelay", ends[0], 0);
	assert_int_equal(changed_fds_set(&w).done, 1);
	assert_int_equal(option(ends[0], IPPROTO_TCP, TCP_NODELAY), 1);
	assert_int_equal(changed_fds_undo(&w).err, 0);
	assert_int_equal(option(ends[0], IPPROTO_TCP, TCP_NODELAY), 0);
	close(ends[0]);
	close(ends[1]);
}

static void what_would_change_nothing_is_not_taken(void **state)
{
	static struct changed_fds w;
	int ends[2], one = 1;

	connected(ends);
	setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	take(&w, "nodelay", ends[0], 1);
	assert_int_equal(w.n, 0);
	close(ends[0]);
	close(ends[1]);
}

/* the program moves its descriptor while the option is set */
static void a_descriptor_that_moved_is_found(void **state)
{
	static struct changed_fds w;
	int ends[2], moved;

	connected(ends);
	take(&w, "nodelay", ends[0], 0);
	changed_fds_set(&w);
	moved = fcntl(ends[0], F_DUPFD, 200);
	close(ends[0]);
	assert_int_equal(changed_fds_undo(&w).err, 0);
	assert_int_equal(option(moved, IPPROTO_TCP, TCP_NODELAY), 0);
	close(moved);
	close(ends[1]);
}

/* A copy kept open would keep the connection: the other end must see its end. */
static void a_descriptor_that_was_closed_is_gone(void **state)
{
	static struct changed_fds w;
	struct changed_result r;
	int ends[2];
	char c;

	connected(ends);
	take(&w, "nodelay", ends[0], 0);
	changed_fds_set(&w);
	close(ends[0]);
	assert_int_equal(recv(ends[1], &c, 1, 0), 0);
	r = changed_fds_undo(&w);
	assert_int_equal(r.gone, 1);
	assert_int_equal(r.err, 0);
	close(ends[1]);
}

static void a_buffer_is_as_it_was(void **state)
{
	static struct changed_fds w;
	int ends[2], small = 8192, before, locks;

	connected(ends);
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	before = option(ends[0], SOL_SOCKET, SO_SNDBUF);
	locks = option(ends[0], SOL_SOCKET, 72);
	take(&w, "sndbuf", ends[0], 0);
	changed_fds_set(&w);
	assert_true(option(ends[0], SOL_SOCKET, SO_SNDBUF) > before);
	assert_int_equal(changed_fds_undo(&w).err, 0);
	assert_int_equal(option(ends[0], SOL_SOCKET, SO_SNDBUF), before);
	assert_int_equal(option(ends[0], SOL_SOCKET, 72), locks);
	close(ends[0]);
	close(ends[1]);
}

static void a_pipe_is_as_large_as_it_was(void **state)
{
	static struct changed_fds w;
	int p[2], before;

	assert_false(pipe(p));
	before = fcntl(p[1], F_GETPIPE_SZ);
	take(&w, "pipe-size", p[1], 0);
	changed_fds_set(&w);
	assert_int_equal(fcntl(p[1], F_GETPIPE_SZ), 1 << 20);
	assert_int_equal(changed_fds_undo(&w).err, 0);
	assert_int_equal(fcntl(p[1], F_GETPIPE_SZ), before);
	close(p[0]);
	close(p[1]);
}

/* --- words ------------------------------------------------------------------------------------ */

static void every_fix_is_spelt_for_whoever_is_not_known(void **state)
{
	char text[400];

	for (size_t i = 0; setting_at(i); i++)
		assert_true(spelling_for(setting_at(i)->name, 0, text, sizeof(text)));
}

static void every_fix_has_its_option(void **state)
{
	for (size_t i = 0; live_fix_name(i); i++)
		assert_non_null(setting_find(live_fix_name(i)));
	assert_null(live_fix_find("nonsense"));
}

/* what completion offers is what --fix takes */
static void the_words_are_the_fixes(void **state)
{
	size_t n = 0;

	for (; live_fix_name(n); n++)
		assert_string_equal(live_fix_words[n], live_fix_name(n));
	assert_null(live_fix_words[n]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_brings_more_is_proven),
		cmocka_unit_test(what_brings_nothing_is_refuted),
		cmocka_unit_test(a_program_at_its_own_pace_is_judged_by_its_stall),
		cmocka_unit_test(a_buffer_that_only_fills_proves_nothing),
		cmocka_unit_test(what_arrives_more_slowly_is_not_proven_by_its_stall),
		cmocka_unit_test(the_gain_is_that_without_the_ledger),
		cmocka_unit_test(what_gains_with_the_ledger_alone_is_not_proven),
		cmocka_unit_test(what_a_process_writes_elsewhere_is_not_what_it_sends),
		cmocka_unit_test(an_option_is_set_and_undone),
		cmocka_unit_test(what_would_change_nothing_is_not_taken),
		cmocka_unit_test(a_descriptor_that_moved_is_found),
		cmocka_unit_test(a_descriptor_that_was_closed_is_gone),
		cmocka_unit_test(a_buffer_is_as_it_was),
		cmocka_unit_test(a_pipe_is_as_large_as_it_was),
		cmocka_unit_test(every_fix_is_spelt_for_whoever_is_not_known),
		cmocka_unit_test(every_fix_has_its_option),
		cmocka_unit_test(the_words_are_the_fixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
