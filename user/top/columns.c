// SPDX-License-Identifier: GPL-2.0-only
#include "top/columns.h"

#include <stdio.h>
#include <string.h>

#include "top/row_names.h"

enum { CELL = 96 };

typedef void cell_fn(const struct rows *p, const struct row *r, char *out);

static void cell_program(const struct rows *p, const struct row *r, char *out)
{
	digest_who(row_digest(p, r), out, CELL);
}

static void cell_proto(const struct rows *p, const struct row *r, char *out)
{
	snprintf(out, CELL, "%s", trace_proto_name(row_digest(p, r)->proto));
}

static void cell_local(const struct rows *p, const struct row *r, char *out)
{
	local_text(row_digest(p, r), out, CELL);
}

static void cell_peer(const struct rows *p, const struct row *r, char *out)
{
	remote_text(row_digest(p, r), row_peer(p, r), out, CELL);
}

static void cell_out(const struct rows *p, const struct row *r, char *out)
{
	rate_text(p, r->tx_bytes, r->tx_gap < GAP_BYTES, out, CELL);
}

static void cell_in(const struct rows *p, const struct row *r, char *out)
{
	rate_text(p, r->rx_bytes, r->rx_gap < GAP_BYTES, out, CELL);
}

static void cell_messages(const struct rows *p, const struct row *r, char *out)
{
	rate_text(p, r->tx_messages + r->rx_messages,
		  r->tx_gap == GAP_NONE && r->rx_gap == GAP_NONE, out, CELL);
}

static void cell_rtt(const struct rows *p, const struct row *r, char *out)
{
	double us = row_digest(p, r)->rtt_us;

	if (us == 0)
		snprintf(out, CELL, "-");
	else if (us < 1000)
		snprintf(out, CELL, "%.0f us", us);
	else
		snprintf(out, CELL, us < 1e5 ? "%.1f ms" : "%.0f ms", us / 1000);
}

static void cell_stall(const struct rows *p, const struct row *r, char *out)
{
	double percent = 100 * row_share(p, r);

	snprintf(out, CELL, percent > 99.95 ? "%.0f%%" : "%.1f%%", percent > 100 ? 100.0 : percent);
}

static void cell_why(const struct rows *p, const struct row *r, char *out)
{
	why_text(r, out, CELL);
}

static void cell_for_whom(const struct rows *p, const struct row *r, char *out)
{
	for_whom_text(p, r, out, CELL);
}

static void cell_now(const struct rows *p, const struct row *r, char *out)
{
	const struct trace_digest *s = row_digest(p, r);

	if (s->closed)
		snprintf(out, CELL, "closed");
	else
		snprintf(out, CELL, "%s/%s", trace_tx_names[s->tx_now], trace_rx_names[s->rx_now]);
}

static void cell_cgroup(const struct rows *p, const struct row *r, char *out)
{
	cgroup_text(row_digest(p, r), out, CELL);
}

/* In screen order. rank: the lower it is, the earlier a column gets room. A column grows from min
 * to max with spare room; with `whole` it has the width of its longest name before spare room is
 * given out. */
static const struct column {
	const char *title;
	cell_fn *cell;
	int min, max, rank;
	bool right;
	bool whole;
} columns[] = {
	{ "STALL", cell_stall, 5, 5, 1, true },
	{ "WHO WAITS", cell_program, 7, 24, 0, false, true },
	{ "FOR WHOM", cell_for_whom, 8, 46, 2, false, true },
	{ "WHY", cell_why, 6, 20, 3, false, true },
	{ "OUT B/s", cell_out, 7, 7, 4, true },
	{ "IN B/s", cell_in, 6, 6, 6, true },
	{ "PEER", cell_peer, 15, 46, 5, false },
	{ "RTT", cell_rtt, 7, 7, 7, true },
	{ "MSG/s", cell_messages, 5, 5, 8, true },
	{ "PROTO", cell_proto, 5, 14, 9, false },
	{ "LOCAL", cell_local, 15, 46, 9, false },
	{ "NOW", cell_now, 11, 15, 10, false },
	{ "CGROUP", cell_cgroup, 20, 60, 11, false },
};

enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]), RANKS = 12, MEASURED = 40 };

/* The width of the title or of the longest name in the first MEASURED rows, within min and max. */
static int longest(int i, const struct rows *p)
{
	int need = (int)strlen(columns[i].title);
	char cell[CELL];

	if (need < columns[i].min)
		need = columns[i].min;
	for (size_t k = 0; k < p->shown && k < MEASURED; k++) {
		columns[i].cell(p, &p->v[p->order[k]], cell);
		if ((int)strlen(cell) > need)
			need = (int)strlen(cell);
	}
	return need > columns[i].max ? columns[i].max : need;
}

/* The least width of each column; a `whole` column needs the width of its longest name. */
static void leasts(int *least, const struct rows *p)
{
	for (int i = 0; i < N_COLUMNS; i++) {
		least[i] = columns[i].min;
		if (p && columns[i].whole)
			least[i] = longest(i, p);
	}
}

/* The width of a column that does not fit: a `whole` one takes the room that is left. */
static int part(int i, int left)
{
	return columns[i].whole && left > columns[i].min ? left : columns[i].min;
}

static void choose(bool *in, int *least, int width)
{
	int used = -1; /* no blank before the first */

	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < N_COLUMNS; i++)
			if (columns[i].rank == rank) {
				if (used + 1 + least[i] > width)
					least[i] = part(i, width - used - 1);
				in[i] = used + 1 + least[i] <= width;
				used += in[i] ? 1 + least[i] : 0;
			}
}

/* Gives the spare room out in turns, one character to each column that can grow. */
static void spread(struct layout *l, int spare)
{
	bool given = true;

	while (spare > 0 && given) {
		given = false;
		for (int i = 0; i < l->n && spare > 0; i++) {
			if (columns[l->column[i]].whole || l->w[i] >= columns[l->column[i]].max)
				continue;
			l->w[i]++;
			spare--;
			given = true;
		}
	}
}

void layout_choose(struct layout *l, int width, const struct rows *p)
{
	bool in[N_COLUMNS] = {};
	int least[N_COLUMNS], used = -1, at = 0;

	*l = (struct layout){ .width = width };
	leasts(least, p);
	choose(in, least, width);
	for (int i = 0; i < N_COLUMNS; i++)
		if (in[i]) {
			l->column[l->n] = i;
			l->w[l->n++] = least[i];
			used += 1 + least[i];
		}
	spread(l, width - used);
	for (int i = 0; i < l->n; i++) {
		l->at[i] = at;
		at += l->w[i] + 1;
	}
}

/* A text that is cut ends with '+', so that it is not taken for the whole text. */
static void put(char *line, int at, int w, const char *text, bool right)
{
	int len = (int)strlen(text), n = len < w ? len : w;

	memcpy(line + at + (right ? w - n : 0), text, (size_t)n);
	if (len > w && w > 1)
		line[at + w - 1] = '+';
}

static void finish(char *line, int width)
{
	line[width] = '\0';
	while (width > 0 && line[width - 1] == ' ')
		line[--width] = '\0';
}

void layout_title(const struct layout *l, char *buf, size_t size)
{
	memset(buf, ' ', size);
	for (int i = 0; i < l->n; i++)
		put(buf, l->at[i], l->w[i], columns[l->column[i]].title,
		    columns[l->column[i]].right);
	finish(buf, l->width);
}

void layout_row(const struct layout *l, const struct rows *p, const struct row *r, char *buf,
		size_t size)
{
	char cell[CELL];

	memset(buf, ' ', size);
	for (int i = 0; i < l->n; i++) {
		columns[l->column[i]].cell(p, r, cell);
		put(buf, l->at[i], l->w[i], cell, columns[l->column[i]].right);
	}
	finish(buf, l->width);
}
