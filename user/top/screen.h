/* SPDX-License-Identifier: GPL-2.0-only */
/* The live screen: what the keys change, and how it is drawn. It knows neither the kernel nor the
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
	uint64_t delay_ns;    /* between refreshes, as asked for */
	uint64_t interval_ns; /* and as the CPU limit allows */
	const char *backend;
	char clock[16];	 /* of the last look */
	uint64_t picked; /* the endpoint on which the cursor stays; 0: the first row, whoever that
			    is */
	size_t cursor,
		first; /* the row it is on, and the first row in sight: indexes into paces.order */
	size_t page;   /* rows in sight, when last drawn */
	uint64_t span_ns;  /* of the details' time line */
	uint64_t since_ns; /* from when on its steps are known */
	const struct timeline *recent;
	const struct opened *opened; /* what is said of it; NULL: nothing is known yet */
};

enum screen_action { SCREEN_NOTHING, SCREEN_REDRAW, SCREEN_REORDER, SCREEN_LOOK_AT, SCREEN_TRY,
	SCREEN_QUIT };

/* What a key changes. LOOK_AT: the details' endpoint is another (picked; 0 in the list). TRY: a fix
 * is to be tried on it. */
enum screen_action screen_key(struct screen *s, const struct rows *p, int key);

/* After a look or a change of order: the cursor follows its endpoint. */
void screen_follow(struct screen *s, const struct rows *p);

void screen_draw(struct screen *s, const struct rows *p, struct canvas *c);
void detail_draw(const struct screen *s, const struct rows *p, struct canvas *c);

#endif
