// SPDX-License-Identifier: GPL-2.0-only
#include "top/screen.h"

#include <string.h>
#include <sys/param.h>

#include "top/batch.h"
#include "top/columns.h"
#include "top/keys.h"

/* ---- keys ---- */

static void move_to(struct screen *s, const struct rows *p, long row)
{
	long last = (long)p->shown - 1;

	row = row > last ? last : row;
	s->cursor = row > 0 ? (size_t)row : 0;
	s->picked = row > 0 ? row_digest(p, &p->v[p->order[row]])->serial : 0;
}

static enum screen_action type_filter(struct screen *s, int key)
{
	size_t n = strlen(s->filter);

	if (key == KEY_ENTER || key == KEY_ESC)
		s->typing = false;
	if (key == KEY_ESC)
		s->filter[0] = '\0';
	else if (key == KEY_BACKSPACE && n)
		s->filter[n - 1] = '\0';
	else if (key >= ' ' && key <= '~' && n + 1 < sizeof(s->filter))
		memcpy(s->filter + n, (char[]){ (char)key, 0 }, 2);
	return SCREEN_REORDER;
}

static enum screen_action open_detail(struct screen *s, const struct rows *p)
{
	if (!p->shown)
		return SCREEN_NOTHING;
	s->picked = row_digest(p, &p->v[p->order[s->cursor]])->serial;
	s->view = VIEW_DETAIL;
	return SCREEN_LOOK_AT;
}

static uint64_t between(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

#define MS 1000000ull

/* Changes the time between refreshes in the list, the span of the time line in the details. */
static enum screen_action faster(struct screen *s, bool more)
{
	uint64_t *v = s->view == VIEW_DETAIL ? &s->span_ns : &s->delay_ns;

	*v = between(more ? *v * 2 : *v / 2, s->view == VIEW_DETAIL ? 10 * MS : 125 * MS,
		     64000 * MS);
	return SCREEN_REDRAW;
}

static bool move_key(struct screen *s, const struct rows *p, int key)
{
	long at = (long)s->cursor, page = s->page ? (long)s->page : 1;

	switch (key) {
	case KEY_UP:
	case 'k': move_to(s, p, at - 1); return true;
	case KEY_DOWN:
	case 'j': move_to(s, p, at + 1); return true;
	case KEY_PGUP: move_to(s, p, at - page); return true;
	case KEY_PGDN: move_to(s, p, at + page); return true;
	case KEY_HOME:
	case 'g': move_to(s, p, 0); return true;
	case KEY_END:
	case 'G': move_to(s, p, (long)p->shown - 1); return true;
	default: return false;
	}
}

static enum screen_action list_key(struct screen *s, const struct rows *p, int key)
{
	if (move_key(s, p, key))
		return SCREEN_REDRAW;
	switch (key) {
	case 's': s->sort = (enum row_sort)((s->sort + 1) % SORT_KEYS); return SCREEN_REORDER;
	case 'r': s->reverse = !s->reverse; return SCREEN_REORDER;
	case 'a': s->active = !s->active; return SCREEN_REORDER;
	case '/': s->typing = true; return SCREEN_REDRAW;
	case KEY_ESC: s->filter[0] = '\0'; return SCREEN_REORDER;
	case KEY_ENTER: return open_detail(s, p);
	default: return SCREEN_NOTHING;
	}
}

static enum screen_action back(struct screen *s)
{
	enum view from = s->view;

	s->view = VIEW_LIST;
	return from == VIEW_DETAIL ? SCREEN_LOOK_AT : SCREEN_REDRAW;
}

enum screen_action screen_key(struct screen *s, const struct rows *p, int key)
{
	if (s->typing)
		return type_filter(s, key);
	switch (key) {
	case 'q': return SCREEN_QUIT;
	case ' ': s->paused = !s->paused; return SCREEN_REDRAW;
	case '+': return faster(s, true);
	case '-': return faster(s, false);
	case '?':
	case 'h': s->view = s->view == VIEW_HELP ? VIEW_LIST : VIEW_HELP; return SCREEN_REDRAW;
	default:
		if (s->view == VIEW_LIST)
			return list_key(s, p, key);
		if (s->view == VIEW_DETAIL && key == 't')
			return SCREEN_TRY;
		return key == KEY_ESC || key == KEY_ENTER || key == KEY_BACKSPACE ? back(s)
										  : SCREEN_NOTHING;
	}
}

void screen_follow(struct screen *s, const struct rows *p)
{
	if (!s->picked) {
		s->cursor = 0;
		return;
	}
	for (size_t i = 0; i < p->shown; i++)
		if (p->now.v[p->order[i]].serial == s->picked) {
			s->cursor = i;
			return;
		}
	if (s->cursor >= p->shown)
		s->cursor = p->shown ? p->shown - 1 : 0;
}

/* ---- the list ---- */

static void draw_head(const struct screen *s, const struct rows *p, struct canvas *c)
{
	const struct trace_counters *lost = &p->sum.counters;
	char text[SUMMARY_TEXT];
	int x;

	x = canvas_printf(c, 0, 0, ATTR_BOLD, "ipcstall top");
	snprintf(text, sizeof(text), "  %s  every %.3g s%s, by %s%s%s", s->clock,
		 (double)MAX(s->delay_ns, s->interval_ns) / 1e9,
		 s->interval_ns > s->delay_ns ? " (CPU limit)" : "", row_sort_names[s->sort],
		 s->reverse ? " reversed" : "", s->active ? "" : ", all");
	x = canvas_pieces(c, 0, x, ATTR_PLAIN, text, "  ");
	if (s->filter[0])
		x = canvas_printf(c, 0, x, ATTR_CYAN, ", filter '%s'", s->filter);
	snprintf(text, sizeof(text), "  (%s)", s->backend);
	x = canvas_pieces(c, 0, x, ATTR_PLAIN, text, "\n");
	if (s->paused)
		canvas_printf(c, 0,
			      c->w > x + 10  ? x + 2
			      : c->w - 8 > 0 ? c->w - 8
					     : 0,
			      ATTR_REVERSE, " PAUSED ");
	summary_text(p, text, sizeof(text));
	if (c->h >= 4)
		canvas_pieces(c, 1, 0,
			      lost->lost || lost->overflow || lost->dropped ? ATTR_RED : ATTR_PLAIN,
			      text, ", ");
}

static enum attr row_attr(const struct rows *p, const struct row *r)
{
	double share = row_share(p, r);

	if (row_digest(p, r)->closed)
		return ATTR_DIM;
	return share >= 0.5 ? ATTR_RED : share >= 0.1 ? ATTR_YELLOW : ATTR_PLAIN;
}

static void keep_in_view(struct screen *s, size_t shown)
{
	if (s->cursor < s->first)
		s->first = s->cursor;
	if (s->page && s->cursor >= s->first + s->page)
		s->first = s->cursor - s->page + 1;
	if (s->first + s->page > shown)
		s->first = shown > s->page ? shown - s->page : 0;
}

/* Says below the last row which endpoints are not shown, and why. */
static void draw_rest(const struct screen *s, const struct rows *p, struct canvas *c, int top)
{
	size_t idle = p->sum.endpoints - p->sum.active;

	if (p->shown >= s->page)
		return;
	if (!p->interval_ns)
		canvas_text(c, top, 0, ATTR_DIM, "looking...");
	else if (!p->shown && s->filter[0])
		canvas_text(c, top, 0, ATTR_DIM, "no row contains the filter's words");
	else if (!p->sum.endpoints)
		canvas_text(c, top, 0, ATTR_DIM, "nothing is open here");
	else if (s->active && !s->filter[0] && idle)
		canvas_printf(c, top + (int)p->shown, 0, ATTR_DIM,
			      "%s%zu idle, folded (a shows %s)",
			      p->shown ? "... " : "nothing moved: ", idle,
			      idle == 1 ? "it" : "them");
}

static void draw_rows(struct screen *s, const struct rows *p, struct canvas *c, int top, int bottom)
{
	char line[1024];
	struct layout l;

	layout_choose(&l, c->w < (int)sizeof(line) ? c->w : (int)sizeof(line) - 1, p);
	layout_title(&l, line, sizeof(line));
	canvas_fill(c, top, ATTR_REVERSE);
	canvas_text(c, top, 0, ATTR_REVERSE, line);
	s->page = bottom > top + 1 ? (size_t)(bottom - top - 1) : 0;
	keep_in_view(s, p->shown);
	for (size_t i = 0; i < s->page && s->first + i < p->shown; i++) {
		const struct row *r = &p->v[p->order[s->first + i]];
		bool here = s->first + i == s->cursor;

		layout_row(&l, p, r, line, sizeof(line));
		canvas_text(c, top + 1 + (int)i, 0, here ? ATTR_REVERSE : row_attr(p, r), line);
		if (here)
			canvas_fill(c, top + 1 + (int)i, ATTR_REVERSE);
	}
	draw_rest(s, p, c, top + 1);
}

static void draw_list(struct screen *s, const struct rows *p, struct canvas *c)
{
	int top = c->h >= 4 ? 2 : c->h >= 3 ? 1 : 0, bottom = c->h >= 2 ? c->h - 1 : c->h;

	draw_rows(s, p, c, top, bottom);
	draw_head(s, p, c);
	if (c->h < 2)
		return;
	if (s->typing)
		canvas_printf(c, c->h - 1, 0, ATTR_BOLD, "filter: %s_", s->filter);
	else
		canvas_pieces(c, c->h - 1, 0, ATTR_DIM,
			      "q quit  ? help  enter details  / filter  s sort  r reverse  a all  "
			      "space pause  +- delay", "  ");
}

static const struct help_line {
	const char *word, *means;
} help_lines[] = {
	{ "STALL", "the share of the interval in which data was ready and held back" },
	{ "WHO WAITS", "the program that sends there, and its process number" },
	{ "FOR WHOM", "who kept it waiting: a program, the other end's address, the path, a CPU" },
	{ "WHY", "the largest cause (`ipcstall causes`) and what the other end did: delack, it "
		 "delayed its ACK; reader, it did not read; drops: no stall, but datagrams "
		 "dropped on this host; '?': inferred from this end" },
	{ "OUT, IN", "bytes per second; MSG/s calls that sent or received" },
	{ "RTT", "smoothed round trip of TCP" },
	{ "NOW", "the states of both ledgers at this moment" },
	{ "-", "absent, or not observed" },
	{ "", "" },
	{ "up down", "pgup pgdn home end, or j k g G: choose a row; the cursor stays on it" },
	{ "enter", "details: the verdict, the ledgers, the recent time line; every message of "
		"its programs is traced meanwhile; esc goes back" },
	{ "t", "in the details: try a fix on it (`ipcstall try`), after asking" },
	{ "/", "show only rows that contain every word typed; esc clears it" },
	{ "s r", "next sort key; reverse" },
	{ "a", "show endpoints where nothing moved, too" },
	{ "space", "pause" },
	{ "+ -", "a longer or shorter interval; in the details, a longer or shorter time line" },
	{ "q", "quit" },
};

enum { HELP_INDENT = 10 };

static void draw_help(struct canvas *c)
{
	int y = canvas_wrapped(c, 0, 0, ATTR_BOLD,
			       "ipcstall top: columns and keys (esc goes back)");

	for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++) {
		const struct help_line *l = &help_lines[i];

		canvas_text(c, y, 0, ATTR_CYAN, l->word);
		y = canvas_hung(c, y, HELP_INDENT, ATTR_PLAIN, l->means);
	}
}

void screen_draw(struct screen *s, const struct rows *p, struct canvas *c)
{
	if (s->view != VIEW_DETAIL)
		canvas_clear(c);
	if (s->view == VIEW_HELP)
		draw_help(c);
	else if (s->view == VIEW_DETAIL)
		detail_draw(s, p, c);
	else
		draw_list(s, p, c);
}
