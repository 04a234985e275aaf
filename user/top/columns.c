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

static void cell_cause(const struct rows *p, const struct row *r, char *out)
{
	snprintf(out, CELL, "%s", cause_text(r));
}

static void cell_blamed(const struct rows *p, const struct row *r, char *out)
{
	blamed_text(p, r, out, CELL);
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

/* In the order they stand in; rank: who comes first when room is scarce. From min to max a column
 * takes what is spare. */
static const struct column {
	const char *title;
	cell_fn *cell;
	int min, max, rank;
	bool right;
	int ample; /* min where the line is wide enough for more than the bare figures; 0: as min */
} columns[] = {
	{ "PROGRAM", cell_program, 7, 24, 0, false, 14 },
	{ "PROTO", cell_proto, 5, 14, 8, false },
	{ "LOCAL", cell_local, 15, 46, 9, false },
	{ "PEER", cell_peer, 15, 46, 4, false },
	{ "OUT B/s", cell_out, 7, 7, 3, true },
	{ "IN B/s", cell_in, 6, 6, 6, true },
	{ "MSG/s", cell_messages, 5, 5, 7, true },
	{ "RTT", cell_rtt, 7, 7, 5, true },
	{ "STALL", cell_stall, 5, 5, 1, true },
	{ "CAUSE", cell_cause, 6, 8, 2, false },
	{ "BLAMED", cell_blamed, 12, 44, 4, false },
	{ "NOW", cell_now, 11, 15, 10, false },
	{ "CGROUP", cell_cgroup, 20, 60, 11, false },
};

enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]), RANKS = 12, AMPLE = 60 };

static int least(int column, int width)
{
	return width >= AMPLE && columns[column].ample ? columns[column].ample
						       : columns[column].min;
}

static void choose(bool *in, int width)
{
	int used = -1; /* no blank before the first */

	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < N_COLUMNS; i++)
			if (columns[i].rank == rank && used + 1 + least(i, width) <= width) {
				in[i] = true;
				used += 1 + least(i, width);
			}
}

/* One character at a time to each that wants it: nobody starves. */
static void spread(struct layout *l, int spare)
{
	bool given = true;

	while (spare > 0 && given) {
		given = false;
		for (int i = 0; i < l->n && spare > 0; i++) {
			if (l->w[i] >= columns[l->column[i]].max)
				continue;
			l->w[i]++;
			spare--;
			given = true;
		}
	}
}

void layout_choose(struct layout *l, int width)
{
	bool in[N_COLUMNS] = {};
	int used = -1, at = 0;

	*l = (struct layout){ .width = width };
	choose(in, width);
	for (int i = 0; i < N_COLUMNS; i++)
		if (in[i]) {
			l->column[l->n] = i;
			l->w[l->n++] = least(i, width);
			used += 1 + least(i, width);
		}
	spread(l, width - used);
	for (int i = 0; i < l->n; i++) {
		l->at[i] = at;
		at += l->w[i] + 1;
	}
}

/* What does not fit ends with '+', so that nobody takes a part for the whole. */
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
