// SPDX-License-Identifier: GPL-2.0-only
/* The screens of `ipcstall top`, drawn from kept recordings: draw_top list|help RECORDING..., or
 * draw_top detail WHICH RECORDING. COLUMNS is the width. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/kept.h"
#include "top/opened.h"
#include "top/screen.h"

#define AT 100000000000ull /* when all recordings end */

enum { HEIGHT = 36, MOST = 64 };

static struct trace_endpoint all[MOST];
static size_t n_all;

/* Each recording has its own clock and numbers. */
static void add(const struct replay *r)
{
	size_t first = n_all;

	for (size_t i = 0; i < r->end.n && n_all < MOST; i++) {
		struct trace_endpoint *ep = &all[n_all++];

		*ep = r->end.ep[i];
		ep->serial += 1000 * (first + 1);
		ep->peer = ep->peer < 0 ? -1 : ep->peer + (int)first;
		ep->born_ns = AT - (ep->at_ns - ep->born_ns);
		ep->at_ns = AT;
		ep->closed = false;
	}
}

static uint64_t longest_life(void)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < n_all; i++)
		if (AT - all[i].born_ns > longest)
			longest = AT - all[i].born_ns;
	return longest;
}

static int make_rows(struct rows *p, const struct trace_snapshot *s, uint64_t interval_ns)
{
	struct trace_digests empty = { .at_ns = AT - interval_ns }, full = {};
	struct err e = {};
	int bad = rows_take(p, &empty) || trace_digests_of(s, &full, &e) || rows_take(p, &full);

	rows_order(p, SORT_STALL, false, true, "");
	return bad;
}

static void print_row(const struct canvas *c, int y, bool colour)
{
	const struct cell *row = &c->cells[y * c->w];
	int n = c->w, attr = ATTR_PLAIN;

	while (n > 0 && row[n - 1].ch == ' ' && (!colour || row[n - 1].attr != ATTR_REVERSE))
		n--;
	for (int x = 0; x < n; x++) {
		if (colour && row[x].attr != attr)
			fputs(canvas_sgr(c, attr = row[x].attr), stdout);
		putchar(row[x].ch);
	}
	if (colour && attr != ATTR_PLAIN)
		fputs(canvas_sgr(c, ATTR_PLAIN), stdout);
	putchar('\n');
}

static void print(const struct canvas *c)
{
	for (int y = 0; y < c->h; y++)
		print_row(c, y, kept_colour() == COLOUR_ALWAYS);
}

static int look_at(struct screen *s, const struct rows *p, const struct trace_snapshot *snap,
		   struct opened *o, size_t which)
{
	s->view = VIEW_DETAIL;
	s->picked = row_digest(p, &p->v[p->order[which]])->serial;
	o->since.head.at_ns = AT - p->interval_ns;
	s->opened = o;
	return opened_look(o, snap, s->picked);
}

int main(int argc, char **argv)
{
	bool detail = argc > 1 && !strcmp(argv[1], "detail");
	struct replay r = {};
	struct screen s = { .active = true, .delay_ns = 1000000000, .backend = "fentry",
		.clock = "12:00:00", .span_ns = 500000000, .since_ns = UINT64_MAX,
		.recent = &r.timeline };
	struct trace_snapshot snap = { .at_ns = AT, .ep = all };
	struct opened opened = {};
	struct canvas c = {};
	struct rows p = {};
	const char *columns = getenv("COLUMNS");

	for (int i = detail ? 3 : 2; i < argc; i++) {
		kept_load(argv[i], &r);
		add(&r);
	}
	snap.n = n_all;
	if (make_rows(&p, &snap, longest_life()) ||
	    canvas_resize(&c, columns ? atoi(columns) : 80, HEIGHT))
		return 1;
	if (detail && look_at(&s, &p, &snap, &opened, (size_t)atoi(argv[2])))
		return 1;
	if (argc > 1 && !strcmp(argv[1], "help"))
		s.view = VIEW_HELP;
	screen_draw(&s, &p, &c);
	print(&c);
	return 0;
}
