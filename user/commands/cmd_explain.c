// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall explain: a state, a fix or another word of the screens, and what to do about it. */
#include <ctype.h>
#include <string.h>

#include "bpf/causes.h"
#include "commands/command.h"
#include "commands/explain.h"
#include "try/setting.h"
#include "verdict/live_fix.h"
#include "try/spelling.h"

struct state_row {
	const char *name, *what, *fix;
	int stall, nist;
	unsigned int number;
};

#define STATE_ROW(sym, num, name, stall, nist, what, fix) { name, what, fix, stall, nist, num },
static const struct state_row tx_states[] = { TX_STATES(STATE_ROW) };
static const struct state_row rx_states[] = { RX_STATES(STATE_ROW) };

/* Words that are neither a state nor a fix. */
static const struct {
	const char *name, *what, *next;
} terms[] = {
	{ "stall", "the time in which data was ready and the protocol held it back: the sum of the "
		"states marked *",
	  "ipcstall run -- CMD shows the state, who waits, and for whom" },
	{ "stalled", "data was ready, and the protocol held it back: it waited for buffer memory, "
		     "for a window, or to fill a segment. The percentage is a share of the "
		     "sender's time",
	  "`why` names the state: ipcstall explain STATE" },
	{ "waiting", "nothing was held back, but a program waited long for another one to send, "
		     "answer, read or accept, or it waited long for a CPU. For several "
		     "connections the times are sums",
	  "`next` says where to look" },
	{ "healthy", "no data was held back for long, and no program waited long for another. A "
		     "stream that its reader, the link or a CPU limits is healthy: `limited by` "
		     "names it",
	  "ipcstall run --ledger -- CMD shows every state" },
	{ "thinks", "the time from when a server has read a request until it begins to answer: "
		    "it computes, sleeps, or waits for another program. If requests queue before "
		    "the server, its client waits longer than this",
	  "`next` says where to look" },
	{ "seen-at-both-ends", "both ends were traced: one end shows the cause, the other its "
			       "effect",
	  "ipcstall explain inferred" },
	{ "suspected", "samples point to this cause, but do not see it happen",
	  "ipcstall attach --exact can prove it" },
	{ "suggested", "a fix that fits the cause but was not tried",
	  "ipcstall try -p PID tries it and measures the gain" },
	{ "proven", "the fix was set, and measured windows with it against windows without: the "
		    "gain is beyond chance",
	  "ipcstall explain FIX shows how a program sets it" },
	{ "limited-by", "what sets the pace of a stream in which nothing is held back: its reader, "
			"its writer, the link, or a CPU",
	  "a faster one of these makes it faster" },
	{ "delayed-ack", "the receiver withholds its ACK until it has an answer to send along, or "
			 "for 40 ms or more; a sender that Nagle's algorithm holds back waits for "
			 "that ACK",
	  "ipcstall explain nagle; ipcstall explain quickack" },
	{ "waiting-for-a-cpu", "a task was woken and ready to run, but no CPU ran it: other tasks "
			       "had the CPUs, or the quota of its cgroup was used up",
	  "run fewer tasks, raise its priority, or raise cpu.max" },
	{ "deadlock", "two processes each wait for the other, and neither can go on",
	  "read both pipes of a subprocess; do not write more than fits while nobody reads" },
	{ "bounded", "no hook saw the exact moment: the figure may be too long, at most by the "
		     "time until the next event that a hook saw",
	  "ipcstall check shows what this kernel allows; the fentry backend sees exact moments" },
	{ "unknown", "the figure could not be observed. It is printed as - or null, never as 0",
		"ipcstall check" },
	{ "inferred", "only one end was seen; what the other end did follows from the protocol",
		"run ipcstall attach at the other end too" },
	{ "ledger", "the record of a socket's or pipe's life: each nanosecond is in exactly one "
		    "state for each direction, and the states add up to that life",
	  "ipcstall causes lists the states" },
	{ "blind", "a time in which the kernel ran no tracing program on a CPU; what happened then "
		   "is in no ledger", "docs/KERNEL_NOTES.md" },
	{ "overflow", "endpoints for which there was no room; they are counted but not recorded",
		"give a larger --max-endpoints" },
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

static bool same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		char x = *a == '_' || *a == ' ' ? '-' : (char)tolower((unsigned char)*a);

		if (x != *b)
			return false;
	}
	return *a == *b;
}

static void paragraph(FILE *out, const char *label, const char *text)
{
	fprintf(out, "  %-6s ", label);
	opt_wrap(out, text, 9);
}

static void spell(const char *fix, FILE *out)
{
	for (const struct spelling *s = spellings; s->fix; s++)
		if (!strcmp(s->fix, fix)) {
			fprintf(out, "    %-8s ", s->program);
			opt_wrap(out, s->text, 13);
		}
}

static void explain_fix(const char *name, FILE *out)
{
	const struct setting *s = setting_find(name);
	char text[160];

	snprintf(text, sizeof(text), "fix %s: %s", name, s->said);
	fputs("  ", out);
	opt_wrap(out, text, 2);
	spell(name, out);
	snprintf(text, sizeof(text), "sudo ipcstall try -p PID --fix %s%s", name,
		 s->not_undone ? " --irreversible" : "");
	paragraph(out, "try it", text);
}

static void explain_state(const struct state_row *r, bool rx, FILE *out)
{
	static const char *const points[] = { "", "; NIST: sleep for memory", "; NIST: window full",
		"; NIST: partial packet" };
	char head[120];

	snprintf(head, sizeof(head), "%s (a state of the %s%s%s)", r->name,
		 rx ? "receiver" : "sender", r->stall ? ", a stall" : "", points[r->nist]);
	opt_wrap(out, head, 0);
	paragraph(out, "when", r->what);
	paragraph(out, "do", r->fix);
	for (size_t i = 0; !rx && live_fix_name(i); i++)
		if (live_fix_find(live_fix_name(i))->causes >> r->number & 1)
			explain_fix(live_fix_name(i), out);
}

static bool explain_states(const char *word, FILE *out)
{
	bool found = false;

	for (size_t i = 0; i < N(tx_states); i++)
		if (same_word(word, tx_states[i].name) && (found = true))
			explain_state(&tx_states[i], false, out);
	for (size_t i = 0; i < N(rx_states); i++)
		if (same_word(word, rx_states[i].name) && (found = true))
			explain_state(&rx_states[i], true, out);
	return found;
}

static bool explain_term(const char *word, FILE *out)
{
	for (size_t i = 0; i < N(terms); i++) {
		if (!same_word(word, terms[i].name))
			continue;
		fprintf(out, "%s\n", terms[i].name);
		paragraph(out, "is", terms[i].what);
		paragraph(out, "next", terms[i].next);
		return true;
	}
	return false;
}

static bool explain_a_fix(const char *word, FILE *out)
{
	for (size_t i = 0; live_fix_name(i); i++) {
		if (!same_word(word, live_fix_name(i)))
			continue;
		fprintf(out, "%s\n", live_fix_name(i));
		explain_fix(live_fix_name(i), out);
		return true;
	}
	return false;
}

/* A state that both directions have is there once. */
const char *explain_known(size_t i)
{
	size_t rx = 0;

	if (i < N(tx_states))
		return tx_states[i].name;
	i -= N(tx_states);
	for (; rx < N(rx_states); rx++) {
		bool again = false;

		for (size_t k = 0; k < N(tx_states); k++)
			again |= !strcmp(rx_states[rx].name, tx_states[k].name);
		if (!again && i-- == 0)
			return rx_states[rx].name;
	}
	if (i < N(terms))
		return terms[i].name;
	return live_fix_name(i - N(terms));
}

static int unknown_word(const char *word, struct err *e)
{
	const char *known[64], *near;
	size_t n = 0;

	while (n < N(known) && explain_known(n)) {
		known[n] = explain_known(n);
		n++;
	}
	near = nearest_word(word, known, n);
	return err_usage(e, "%s: no such word; %s%s%s", word,
			 near ? "did you mean '" : "ipcstall explain --help lists all",
			 near ? near : "", near ? "'? (ipcstall explain --help lists all)" : "");
}

int explain_word(const char *word, FILE *out, struct err *e)
{
	return explain_states(word, out) || explain_a_fix(word, out) || explain_term(word, out)
		       ? 0
		       : unknown_word(word, e);
}

static const char *summary_of(const char *word)
{
	for (size_t i = 0; i < N(tx_states); i++)
		if (!strcmp(word, tx_states[i].name))
			return tx_states[i].what;
	for (size_t i = 0; i < N(rx_states); i++)
		if (!strcmp(word, rx_states[i].name))
			return rx_states[i].what;
	for (size_t i = 0; i < N(terms); i++)
		if (!strcmp(word, terms[i].name))
			return terms[i].what;
	return "";
}

/* A fix may have the name of the state that it is for. */
static bool is_fix(size_t i)
{
	size_t fixes = 0, all = 0;

	while (live_fix_name(fixes))
		fixes++;
	while (explain_known(all))
		all++;
	return i >= all - fixes;
}

static bool words(size_t i, const char **name, char *text, size_t len)
{
	*name = explain_known(i);
	if (!*name)
		return false;
	if (is_fix(i))
		snprintf(text, len, "fix: %s", setting_find(*name)->said);
	else
		snprintf(text, len, "%s", summary_of(*name));
	return true;
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	if (rest->n != 1)
		return err_usage(e, "explain: give one word, as in `ipcstall explain nagle`; "
				    "--help lists all"),
		       EXIT_BAD_USAGE;
	return explain_word(rest->v[0], stdout, e) ? (int)e->code : EXIT_DONE;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "Explain a word on the screens: a state, a fix, a term",
	.operands = "WORD",
	.words_title = "Words",
	.words = words,
	.examples = "ipcstall explain nagle\twhen it holds, what to do, and how the fix is written "
		"in your language\n"
		    "ipcstall explain delayed-ack\ta term\n",
	.takes_operands = true,
	.run = run,
};
