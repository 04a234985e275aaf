/* SPDX-License-Identifier: GPL-2.0-only */
/* The live screen: what each key changes, and how it is drawn. It knows neither the kernel nor the
 * terminal. */
#ifndef IPCSTALL_TOP_SCREEN_H
#define IPCSTALL_TOP_SCREEN_H

#include "verdict/timeline.h"
#include "top/canvas.h"
#include "top/rows.h"

enum view { VIEW_LIST, VIEW_DETAIL, VIEW_HELP };

struct screen {
	enum view view;
	enum row_sort sort;
	bool reverse, active, paused, typing;
	char filter[64];
	uint64_t delay_ns;    /* between refreshes, as requested */
	uint64_t interval_ns; /* between refreshes, as the CPU limit allows */
	const char *backend;
	char clock[16];	 /* the time of the last refresh */
	uint64_t picked; /* serial of the endpoint on which the cursor stays; 0: the first row */
	size_t cursor,
		first; /* the cursor's row, and the first row in sight: indexes into rows.order */
	size_t page;   /* rows in sight, when last drawn */
	uint64_t span_ns;  /* the span of the details' time line */
	uint64_t since_ns; /* from then on the endpoint's steps are known */
	const struct timeline *recent;
	const struct opened *opened; /* the verdict on the endpoint; NULL: none yet */
};

enum screen_action { SCREEN_NOTHING, SCREEN_REDRAW, SCREEN_REORDER, SCREEN_LOOK_AT, SCREEN_TRY,
	SCREEN_QUIT };

/* Handles a key. LOOK_AT: another endpoint is in the details (`picked`), or none. TRY: try a fix on
 * it. */
enum screen_action screen_key(struct screen *s, const struct rows *p, int key);

/* Moves the cursor to its endpoint's row after a refresh or a change of order. */
void screen_follow(struct screen *s, const struct rows *p);

void screen_draw(struct screen *s, const struct rows *p, struct canvas *c);
void detail_draw(const struct screen *s, const struct rows *p, struct canvas *c);

#endif
