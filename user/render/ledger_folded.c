// SPDX-License-Identifier: GPL-2.0-only
/* Folded stacks for flame-graph programs. A line is a chain: the process that stalled, its stack,
 * the state, the process that it waited for, and the stack of that one. Its value is microseconds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "verdict/stall_chain.h"
#include "render/ledger_text.h"
#include "render/ledger_outputs.h"
#include "render/sink.h"

enum { CHAIN = 8192 };

struct chain {
	char *text;
	uint64_t ns;
};

/* Adds a frame; ';' and ' ' within its name become '_', as they separate frames and the value. */
static void add_frame(char *buf, size_t len, const char *prefix, const char *name, size_t n)
{
	size_t at = strlen(buf), used;

	text_append(buf, len, "%s%s%.*s", *buf ? ";" : "", prefix, (int)n, name);
	used = strlen(buf);
	for (size_t i = at + (at > 0); i < used; i++)
		if (buf[i] == ';' || buf[i] == ' ')
			buf[i] = '_';
}

/* The length of a function's name without its offset, which would split it into several frames. A
 * bare address has no offset. */
static size_t function_length(const char *line, size_t n)
{
	const char *plus = memmem(line, n, "+0x", 3);

	return plus ? (size_t)(plus - line) : n;
}

/* Adds the outermost frame first, as flame graphs need. */
static void add_stack(char *buf, size_t len, const char *text, const char *prefix)
{
	const char *end = text ? text + strlen(text) : NULL;

	while (end && end > text) {
		const char *line = end - 1;

		while (line > text && line[-1] != '\n')
			line--;
		add_frame(buf, len, prefix, line, function_length(line, strcspn(line, "\n")));
		end = line;
	}
}

static void add_who(char *buf, size_t len, const char *prefix, const char *comm, pid_t tgid)
{
	char who[48];

	snprintf(who, sizeof(who), "%.16s[%d]", tgid ? comm : "nobody seen", tgid);
	add_frame(buf, len, prefix, who, strlen(who));
}

static void add_stall(const struct stall *st, char *buf, size_t len)
{
	const char *state = state_name(false, st->s.state);

	add_stack(buf, len, st->stack[STACK_USER], "");
	add_stack(buf, len, st->stack[STACK_KERNEL], "k:");
	add_frame(buf, len, "stall:", state, strlen(state));
}

static void add_blamed(const struct stall *st, char *buf, size_t len)
{
	const struct trace_stall *s = &st->s;
	enum blamed by = stall_blamed(s);

	if (!s->peer_tgid)
		return;
	add_who(buf, len, by != BLAME_NOBODY ? "by:" : "peer:", s->peer_comm, s->peer_tgid);
	if (by == BLAME_PEER_DELACK)
		add_frame(buf, len, "", "delayed ACK", 11);
	else if (by == BLAME_PEER_READER)
		add_frame(buf, len, "", "not reading", 11);
	else if (by == BLAME_PEER_NO_CPU)
		add_frame(buf, len, "", "no CPU", 6);
}

static void add_peer_stacks(const struct stall *st, char *buf, size_t len)
{
	add_stack(buf, len, st->stack[STACK_PEER_USER], "");
	add_stack(buf, len, st->stack[STACK_PEER_KERNEL], "k:");
}

enum { LINKS = 8 };

/* If the awaited process is itself stalled, its stall continues the chain, instead of the stack in
 * which it was last seen asleep. */
static void chain_of(const struct stall_order *order, const struct stall *st, char *buf, size_t len)
{
	buf[0] = 0;
	add_who(buf, len, "", st->s.comm, st->s.tgid);
	for (int i = 0; i < LINKS; i++) {
		const struct stall *behind = stall_behind(order, st);

		add_stall(st, buf, len);
		add_blamed(st, buf, len);
		if (!behind)
			break;
		st = behind;
	}
	if (st->s.peer_tgid)
		add_peer_stacks(st, buf, len);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct chain *)a)->text, ((const struct chain *)b)->text);
}

/* Adds up equal chains. */
static size_t sum_equal(struct chain *v, size_t n)
{
	size_t out = 0;

	qsort(v, n, sizeof(*v), by_text);
	for (size_t i = 0; i < n; i++) {
		if (out && !strcmp(v[out - 1].text, v[i].text)) {
			v[out - 1].ns += v[i].ns;
			free(v[i].text);
		} else {
			v[out++] = v[i];
		}
	}
	return out;
}

static size_t make_chains(const struct stalls *l, const struct stall_order *order, struct chain *v)
{
	char buf[CHAIN];
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct stall *st = stalls_at(l, i);

		chain_of(order, st, buf, sizeof(buf));
		v[n].text = strdup(buf);
		v[n].ns = st->s.to_ns - st->s.from_ns;
		n += v[n].text != NULL;
	}
	return n ? sum_equal(v, n) : 0;
}

int ledger_folded_write(const struct ledger_view *view, const char *path, struct err *e)
{
	struct chain *v = array_new(view->stalls->n, 1, sizeof(*v));
	struct stall_order order;
	bool room = v && !stall_order_make(&order, view->stalls);
	FILE *f = room ? sink_open(path, e) : NULL;
	size_t n = room ? make_chains(view->stalls, &order, v) : 0;

	for (size_t i = 0; i < n; i++) {
		if (f && v[i].ns >= 500)
			fprintf(f, "%s %" PRIu64 "\n", v[i].text, (v[i].ns + 500) / 1000);
		free(v[i].text);
	}
	if (room)
		stall_order_free(&order);
	else
		err_resource(e, "%s: no memory for the stacks; give a longer --threshold", path);
	free(v);
	return f ? sink_close(f, path, e) : -1;
}
