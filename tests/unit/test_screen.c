// SPDX-License-Identifier: GPL-2.0-only
/* The live screen without a terminal: what is drawn at 20, 80 and 200 columns, what keys change,
 * what is sent to the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "top/keys.h"
#include "top/opened.h"
#include "top/screen.h"
#include "top/sparkline.h"

#define S 1000000000ull

struct rig {
	struct rows p;
	struct screen s;
	struct canvas c;
	struct timeline recent;
};

static struct trace_digest sight(uint64_t serial, uint64_t at)
{
	struct trace_digest v = { .serial = serial, .proto = TRACE_TCP, .family = AF_INET,
		.born_ns = S, .at_ns = at };

	memcpy(v.local.ip, (uint8_t[]){ 10, 0, 0, 1 }, 4);
	memcpy(v.remote.ip, (uint8_t[]){ 10, 0, 0, 2 }, 4);
	v.local.port = (uint16_t)serial;
	v.remote.port = 443;
	v.tx_tgid = v.rx_tgid = (pid_t)(100 + serial);
	snprintf(v.tx_comm, sizeof(v.tx_comm), "prog%d", (int)serial);
	snprintf(v.rx_comm, sizeof(v.rx_comm), "prog%d", (int)serial);
	return v;
}

/* endpoint k of n: k % of the second in rwnd, 1000 * k bytes */
static void look(struct rig *r, uint64_t second, size_t n)
{
	struct trace_digests s = { .at_ns = second * S, .n = n, .room = n, .v = calloc(n + 1,
		sizeof(*s.v)) };

	for (size_t i = 0; i < n; i++) {
		s.v[i] = sight(i + 1, second * S);
		s.v[i].tx_ns[TX_RWND] = second * (i + 1) * 10000000;
		s.v[i].tx_ns[TX_IDLE] = second * S - S - s.v[i].tx_ns[TX_RWND];
		s.v[i].tx_bytes = second * (i + 1) * 1000;
		s.v[i].tx_now = TX_RWND;
	}
	assert_int_equal(rows_take(&r->p, &s), 0);
	trace_digests_free(&s);
	rows_order(&r->p, r->s.sort, r->s.reverse, r->s.active, r->s.filter);
	screen_follow(&r->s, &r->p);
}

static void set_up(struct rig *r, size_t n, int w, int h)
{
	*r = (struct rig){ .s = { .active = true,
				  .delay_ns = S,
				  .backend = "rawtp",
				  .clock = "12:00:00",
				  .span_ns = S } };
	r->s.recent = &r->recent;
	r->recent.max = 100;
	look(r, 10, n);
	look(r, 11, n);
	assert_int_equal(canvas_resize(&r->c, w, h), 0);
	screen_draw(&r->s, &r->p, &r->c);
}

static void tear_down(struct rig *r)
{
	rows_free(&r->p);
	canvas_free(&r->c);
	timeline_free(&r->recent);
}

/* a row as text, without the blanks at its end */
static void canvas_row(const struct canvas *c, int y, char *buf, size_t size)
{
	int n = c->w;

	while (n > 0 && c->cells[y * c->w + n - 1].ch == ' ')
		n--;
	if ((size_t)n >= size)
		n = (int)size - 1;
	for (int x = 0; x < n; x++)
		buf[x] = c->cells[y * c->w + x].ch;
	buf[n] = '\0';
}

static void row_is(struct rig *r, int y, const char *text)
{
	char line[512];

	canvas_row(&r->c, y, line, sizeof(line));
	assert_string_equal(line, text);
}

static bool row_has(struct rig *r, int y, const char *text)
{
	char line[512];

	canvas_row(&r->c, y, line, sizeof(line));
	return strstr(line, text) != NULL;
}

static void press(struct rig *r, int key)
{
	if (screen_key(&r->s, &r->p, key) == SCREEN_REORDER) {
		rows_order(&r->p, r->s.sort, r->s.reverse, r->s.active, r->s.filter);
		screen_follow(&r->s, &r->p);
	}
	screen_draw(&r->s, &r->p, &r->c);
}

static void at_20_columns(void **state)
{
	struct rig r;

	set_up(&r, 3, 20, 6);
	row_is(&r, 0, "ipcstall top");
	row_is(&r, 1, "3 endpoints");
	row_is(&r, 2, "STALL WHO WAITS");
	row_is(&r, 3, " 3.0% prog3[103]");
	row_is(&r, 4, " 2.0% prog2[102]");
	row_is(&r, 5, "q quit  ? help");
	tear_down(&r);
}

static void at_80_columns(void **state)
{
	struct rig r;

	set_up(&r, 2, 80, 24);
	row_is(&r, 0, "ipcstall top  12:00:00  every 1 s, by stall  (rawtp)");
	row_is(&r, 1,
	       "2 endpoints, 2 active, stall 1.5% of the senders' time, out 3.00k B/s, in 0 B/s");
	row_is(&r, 2,
	       "STALL WHO WAITS  FOR WHOM     WHY           OUT B/s IN B/s PEER            MSG/s");
	row_is(&r, 3,
	       " 2.0% prog2[102] 10.0.0.2:443 rwnd, reader?   2.00k      0 10.0.0.2:443        0");
	row_is(&r, 5, "");
	tear_down(&r);
}

static void at_200_columns(void **state)
{
	struct rig r;

	set_up(&r, 2, 200, 24);
	assert_true(row_has(&r, 2, "LOCAL"));
	assert_true(row_has(&r, 2, "NOW"));
	assert_true(row_has(&r, 3, "10.0.0.1:2 "));
	assert_true(row_has(&r, 3, "rwnd/idle"));
	tear_down(&r);
}

/* no size may write outside the cells: the sanitizers watch */
static void at_every_size(void **state)
{
	struct rig r;

	set_up(&r, 5, 10, 10);
	for (int view = VIEW_LIST; view <= VIEW_HELP; view++)
		for (int w = 1; w < 140; w += 7)
			for (int h = 1; h < 50; h += 4) {
				r.s.view = (enum view)view;
				r.s.picked = 2;
				assert_int_equal(canvas_resize(&r.c, w, h), 0);
				screen_draw(&r.s, &r.p, &r.c);
				canvas_diff(&r.c);
			}
	tear_down(&r);
}

static void keys_move_the_cursor(void **state)
{
	struct rig r;

	set_up(&r, 50, 80, 14); /* ten rows in sight */
	assert_int_equal(r.s.page, 10);
	press(&r, KEY_DOWN);
	press(&r, 'j');
	assert_int_equal(r.s.cursor, 2);
	assert_int_equal(r.s.picked, 48);
	press(&r, KEY_PGDN);
	assert_int_equal(r.s.cursor, 12);
	assert_int_equal(r.s.first, 3);
	press(&r, KEY_END);
	assert_int_equal(r.s.cursor, 49);
	row_is(&r, 12,
	       " 1.0% prog1[101]  10.0.0.2:443 rwnd, reader?   1.00k      0 10.0.0.2:443");
	press(&r, KEY_DOWN);
	assert_int_equal(r.s.cursor, 49);
	press(&r, KEY_HOME);
	press(&r, KEY_UP);
	assert_int_equal(r.s.cursor, 0);
	assert_int_equal(r.s.picked, 0);
	tear_down(&r);
}

/* the cursor stays on its endpoint, wherever that moves */
static void cursor_follows(void **state)
{
	struct rig r;

	set_up(&r, 5, 80, 24);
	press(&r, KEY_DOWN);
	assert_int_equal(r.s.picked, 4);
	press(&r, 'r');
	assert_int_equal(r.s.cursor, 3);
	look(&r, 12, 3); /* it is gone */
	screen_draw(&r.s, &r.p, &r.c);
	assert_int_equal(r.s.cursor, 2);
	look(&r, 13, 0);
	screen_draw(&r.s, &r.p, &r.c);
	assert_int_equal(r.s.cursor, 0);
	press(&r, KEY_DOWN);
	press(&r, KEY_ENTER);
	assert_int_equal(r.s.view, VIEW_LIST);
	tear_down(&r);
}

static void typing_filters(void **state)
{
	struct rig r;

	set_up(&r, 12, 80, 24);
	press(&r, '/');
	row_is(&r, 23, "filter: _");
	for (const char *c = "prog1x"; *c; c++)
		press(&r, *c);
	assert_int_equal(r.p.shown, 0);
	row_is(&r, 3, "no row contains the filter's words");
	press(&r, KEY_BACKSPACE);
	assert_int_equal(r.p.shown, 4); /* 1, 10, 11, 12 */
	press(&r, KEY_ENTER);
	assert_false(r.s.typing);
	assert_true(row_has(&r, 0, "filter 'prog1'"));
	press(&r, KEY_ESC);
	assert_int_equal(r.p.shown, 12);
	for (int i = 0; i < 200; i++)
		press(&r, i ? 'x' : '/');
	assert_int_equal(strlen(r.s.filter), sizeof(r.s.filter) - 1);
	tear_down(&r);
}

static void other_keys(void **state)
{
	struct rig r;

	set_up(&r, 2, 80, 24);
	press(&r, 's');
	assert_true(row_has(&r, 0, "by rate"));
	press(&r, ' ');
	assert_true(row_has(&r, 0, "PAUSED"));
	press(&r, ' ');
	for (int i = 0; i < 30; i++)
		press(&r, '-');
	assert_int_equal(r.s.delay_ns, S / 8);
	for (int i = 0; i < 30; i++)
		press(&r, '+');
	assert_int_equal(r.s.delay_ns, 64 * S);
	press(&r, 'h');
	assert_true(row_has(&r, 2, "the program that sends there"));
	press(&r, '?');
	assert_int_equal(r.s.view, VIEW_LIST);
	assert_int_equal(screen_key(&r.s, &r.p, 'q'), SCREEN_QUIT);
	tear_down(&r);
}

static void step(struct rig *r, unsigned int from, unsigned int to, uint64_t at, uint64_t ns)
{
	timeline_add(&r->recent, &(struct trace_transition){ .serial = 2,
							     .at_ns = at,
							     .ns = ns,
							     .from = (uint8_t)from,
							     .to = (uint8_t)to });
}

static void details(void **state)
{
	struct rig r;

	set_up(&r, 2, 80, 40);
	step(&r, TX_IDLE, TX_WORK, 10 * S + S / 4, S / 4);
	step(&r, TX_WORK, TX_RWND, 10 * S + S / 2, S / 4);
	r.s.since_ns = 10 * S;
	assert_int_equal(screen_key(&r.s, &r.p, KEY_ENTER), SCREEN_LOOK_AT);
	screen_draw(&r.s, &r.p, &r.c);
	row_is(&r, 0, "tcp 10.0.0.1:2 > 10.0.0.2:443");
	row_is(&r, 1, "looking...");
	assert_true(row_has(&r, 3, "writer prog2[102], reader prog2[102]; other end: not traced"));
	assert_true(row_has(&r, 4, "stall 2.0% of the last interval; out 2.00k B/s"));
	row_is(&r, 6, "last 1.00 s (+ -): . idle W rwnd; rx: u unread w wait");
	assert_true(row_has(&r, 7, "tx  |........"));
	assert_true(row_has(&r, 7, ".####"));
	assert_true(row_has(&r, 7, "#WWWW"));
	assert_true(row_has(&r, 9, "stalls, newest first:") || row_has(&r, 9, "tx: this interval"));
	look(&r, 12, 1); /* it closes: what was drawn stays */
	screen_draw(&r.s, &r.p, &r.c);
	row_is(&r, 0, "tcp 10.0.0.1:2 > 10.0.0.2:443");
	assert_true(row_has(&r, 39, "gone"));
	assert_int_equal(screen_key(&r.s, &r.p, KEY_ESC), SCREEN_LOOK_AT);
	assert_int_equal(r.s.view, VIEW_LIST);
	tear_down(&r);
}

/* 1 s of which 0.9 were Nagle's rule, under the peer's delayed ACK */
static void grow(struct trace_endpoint ep[2])
{
	ep[0].tx.ns[TX_NAGLE] += 9 * S / 10;
	ep[0].tx.ns[TX_IDLE] += S / 10;
	ep[0].tx.count[TX_NAGLE] += 20;
	ep[0].tx.max[TX_NAGLE] = 45000000;
	ep[0].tx_calls.bytes += 4000;
	ep[0].tx_calls.messages += 20;
	ep[0].blame.delack_ns[TX_NAGLE] += 9 * S / 10;
	ep[0].blame.delack_n[TX_NAGLE] += 20;
	ep[1].rx_calls.bytes += 4000;
	ep[1].rx.ns[RX_WAIT] += S;
	for (int i = 0; i < 2; i++) {
		ep[i].tx.lifetime_ns += S;
		ep[i].rx.lifetime_ns += S;
		ep[i].at_ns += S;
	}
	ep[0].rx.ns[RX_IDLE] += S;
	ep[1].tx.ns[TX_IDLE] += S;
}

/* The verdict is of the time since the details were opened, not of the hours before. */
static void details_have_the_judges_card(void **state)
{
	struct trace_endpoint ep[3] = {
		{ .serial = 2, .proto = TRACE_TCP, .family = AF_INET, .peer = 1, .paired = true },
		{ .serial = 9, .proto = TRACE_TCP, .family = AF_INET, .peer = 0, .paired = true },
		{ .serial = 7, .proto = TRACE_PIPE, .peer = 2 },
	};
	struct trace_snapshot s = { .at_ns = 10 * S, .n = 3, .ep = ep };
	struct opened o = {};
	struct rig r;

	snprintf(ep[0].tx_calls.comm, sizeof(ep[0].tx_calls.comm), "client");
	snprintf(ep[1].rx_calls.comm, sizeof(ep[1].rx_calls.comm), "server");
	ep[0].tx_calls.tgid = 102;
	ep[1].rx_calls.tgid = 103;
	ep[0].tx.ns[TX_IDLE] = ep[0].tx.lifetime_ns = 3600 * S;
	/* another's stall is not told of */
	ep[2].tx.ns[TX_SNDBUF] = ep[2].tx.lifetime_ns = 3600 * S;
	assert_int_equal(opened_look(&o, &s, 2), 0);
	assert_false(o.judged);
	s.at_ns += S / 1000; /* too short to call it healthy */
	assert_int_equal(opened_look(&o, &s, 2), 0);
	assert_false(o.judged);
	grow(ep);
	s.at_ns += S - S / 1000;
	assert_int_equal(opened_look(&o, &s, 2), 0);
	assert_true(o.judged);
	assert_int_equal(o.card.outcome, OUTCOME_STALLED);
	assert_string_equal(o.card.cause, "nagle");
	assert_string_equal(o.card.head, "client[102] waits for an ACK from server[103]");
	assert_int_equal(o.over_ns, S);
	set_up(&r, 2, 80, 40);
	r.s.opened = &o;
	screen_key(&r.s, &r.p, KEY_ENTER);
	screen_draw(&r.s, &r.p, &r.c);
	row_is(&r, 1, "STALLED 90 %  client[102] waits for an ACK from server[103]");
	assert_true(row_has(&r, 4, "  try    TCP_NODELAY here"));
	opened_clear(&o);
	assert_false(o.judged);
	tear_down(&r);
}

static void strips(void **state)
{
	struct rig r = { .recent.max = 100 };
	struct strip s = { .serial = 2, .now = TX_IDLE, .since_ns = 10 * S, .from_ns = 9 * S,
		.to_ns = 11 * S };
	char out[STRIP_MAX + 1];

	sparkline_draw(&s, &r.recent, 4, out);
	assert_string_equal(out, "  .."); /* idle since we look; before: unknown */
	step(&r, TX_NAGLE, TX_IDLE, 10 * S + S / 2 + S / 4, 3 * S / 4);
	sparkline_draw(&s, &r.recent, 4, out);
	assert_string_equal(out,
			    "  N."); /* the fourth slice: half and half, the lower number first */
	sparkline_draw(&s, &r.recent, 8, out);
	assert_string_equal(out, "    NNN.");
	timeline_free(&r.recent);
	step(&r, TX_FLIGHT, TX_IDLE, 10 * S + S / 2 + S / 4, 3 * S / 4);
	step(&r, TX_RECOVERY, TX_IDLE, 10 * S + S / 2,
	     S / 2); /* found out after it had been told as flight */
	sparkline_draw(&s, &r.recent, 8, out);
	assert_string_equal(out, "    RR-.");
	s.to_ns = s.from_ns;
	sparkline_draw(&s, &r.recent, 8, out);
	assert_string_equal(out, "");
	s.to_ns = 11 * S;
	sparkline_draw(&s, &r.recent, 100000, out);
	assert_int_equal(strlen(out), STRIP_MAX);
	timeline_free(&r.recent);
}

/* A terminal that understands what canvas_diff() sends, and nothing else. */
struct toy {
	int x, y, w, h;
	char cell[40][101];
};

static void toy_feed(struct toy *t, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int a = 0, b = 0, used = 0;

		if (s[i] != '\033') {
			assert_true(t->x < t->w && t->y < t->h);
			t->cell[t->y][t->x++] = s[i];
			continue;
		}
		if (sscanf(s + i, "\033[%d;%dH%n", &a, &b, &used) == 2 && used) {
			t->y = a - 1;
			t->x = b - 1;
			i += (size_t)used - 1;
		} else if (!strncmp(s + i, "\033[2J", 4)) {
			memset(t->cell, ' ', sizeof(t->cell));
			i += 3;
		} else {
			while (s[i] != 'm')
				i++;
		}
	}
}

static void difference_is_enough(void **state)
{
	struct toy t = { .w = 80, .h = 24 };
	struct rig r;
	size_t whole;

	set_up(&r, 40, 80, 24);
	canvas_diff(&r.c);
	whole = r.c.n;
	toy_feed(&t, r.c.out, r.c.n);
	for (int round = 0; round < 30; round++) {
		press(&r, (int[]){ KEY_DOWN, 's', '/', 'p', KEY_ESC, 'r', 'h', '?', KEY_END,
				   KEY_ENTER, KEY_ESC }[round % 11]);
		look(&r, 12 + (uint64_t)round, 30 + (size_t)round % 5);
		screen_draw(&r.s, &r.p, &r.c);
		canvas_diff(&r.c);
		toy_feed(&t, r.c.out, r.c.n);
		for (int y = 0; y < 24; y++)
			for (int x = 0; x < 80; x++)
				assert_int_equal(t.cell[y][x], r.c.cells[y * 80 + x].ch);
	}
	canvas_diff(&r.c);
	assert_int_equal(r.c.n, 0); /* nothing changed: nothing is sent */
	canvas_text(&r.c, 3, 3, ATTR_PLAIN, "x");
	canvas_diff(&r.c);
	assert_true(r.c.n > 0 && r.c.n < whole / 20);
	tear_down(&r);
}

static void key_sequences(void **state)
{
	static const struct {
		const char *bytes;
		bool last;
		int key;
		size_t used;
	} rows[] = {
		{ "q", false, 'q', 1 }, { "\033[A", false, KEY_UP, 3 },     { "\033OB", false,
			KEY_DOWN, 3 },
		{ "\033[5~x", false, KEY_PGUP, 4 }, { "\033[1;5H", false, KEY_HOME, 6 },
			{ "\033", false, 0, 0 },
		{ "\033", true, KEY_ESC, 1 }, { "\033[", false, 0, 0 }, { "\033[12", true,
			KEY_OTHER, 4 },
		{ "\r", false, KEY_ENTER, 1 }, { "\n", false, KEY_ENTER, 1 }, { "\b", false,
			KEY_BACKSPACE, 1 },
		{ "\177", false, KEY_BACKSPACE, 1 }, { "\033q", false, KEY_ESC, 1 },
			{ "\033[Z", false, KEY_OTHER, 3 },
		{ "", true, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t used = 99;

		assert_int_equal(
			keys_next(rows[i].bytes, strlen(rows[i].bytes), rows[i].last, &used),
			rows[i].key);
		assert_int_equal(used, rows[i].used);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_20_columns), cmocka_unit_test(at_80_columns),
		cmocka_unit_test(at_200_columns), cmocka_unit_test(at_every_size),
		cmocka_unit_test(keys_move_the_cursor), cmocka_unit_test(cursor_follows),
		cmocka_unit_test(typing_filters), cmocka_unit_test(other_keys),
		cmocka_unit_test(details),
		cmocka_unit_test(details_have_the_judges_card), cmocka_unit_test(strips),
		cmocka_unit_test(difference_is_enough), cmocka_unit_test(key_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
