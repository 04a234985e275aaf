// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall causes: the states of a ledger, from the one table they are defined in (bpf/causes.h).
 */
#include <stdbool.h>

#include "bpf/causes.h"
#include "commands/command.h"
#include "commands/explain.h"
#include "render/paint.h"

struct cause_row {
	int number;
	const char *name;
	bool stall;
	int nist;
	const char *what, *fix;
};

#define CAUSE_ROW(sym, num, name, stall, nist, what, fix) { num, name, stall, nist, what, fix },
static const struct cause_row tx_rows[] = { TX_STATES(CAUSE_ROW) };
static const struct cause_row rx_rows[] = { RX_STATES(CAUSE_ROW) };

struct causes_opts {
	bool markdown;
};

static const struct opt causes_options[] = {
	{ OPT_FLAG, 0, "markdown", NULL, "print the document docs/CAUSES.md",
		offsetof(struct causes_opts, markdown) },
	OPT_END,
};

static const char *nist_name(int point)
{
	static const char *const names[] = { "", "sleep for memory", "window full",
		"partial packet" };

	return names[point];
}

static void markdown(const char *title, const struct cause_row *r, int n)
{
	printf("\n## %s\n\n| state | number | holds when | stall? | NIST stall point | what to do "
	       "|\n|---|---|---|---|---|---|\n",
	       title);
	while (n-- > 0)
		printf("| `%s` | %d | %s | %s | %s | %s |\n", r[n].name, r[n].number, r[n].what,
		       r[n].stall ? "yes" : "no", nist_name(r[n].nist), r[n].fix);
}

static void plain(const struct paint *p, const char *title, const struct cause_row *r, int n)
{
	paint_paragraph(p, INK_PLAIN, 0, 2, "%s", title);
	while (n-- > 0) {
		printf("  %-9s%s ", r[n].name, r[n].stall ? "*" : " ");
		paint_wrapped(p, INK_PLAIN, r[n].what, 13, 13);
		putchar('\n');
		paint_paragraph(p, INK_PLAIN, 13, 16, "-> %s", r[n].fix);
	}
}

#define ROWS(a) ((int)(sizeof(a) / sizeof((a)[0])))

static int run_causes(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct causes_opts *o = opts;
	struct paint p = paint_on(stdout, COLOUR_NEVER);

	if (rest->n > 1)
		return err_usage(e, "causes: %d words; give one, or none for all", rest->n),
		       EXIT_BAD_USAGE;
	if (rest->n)
		return explain_word(rest->v[0], stdout, e) ? (int)e->code : EXIT_DONE;
	if (!o->markdown) {
		plain(&p, "tx: the states of a sender, highest first (* marks a stall)", tx_rows,
		      ROWS(tx_rows));
		plain(&p, "rx: the states of a receiver, highest first", rx_rows, ROWS(rx_rows));
		return EXIT_DONE;
	}
	printf("# Causes\n\nMade by `ipcstall causes --markdown` from `bpf/causes.h`. If several "
	       "states hold at once, the upper row wins.\nThe states of one ledger exclude each "
	       "other and add up to its lifetime.\nStall, as a NIST paper defined it, is the "
	       "sum of the rows with `yes`. A stall point is that paper's name for a cause.\n");
	markdown("tx: the states of a sender", tx_rows, ROWS(tx_rows));
	markdown("rx: the states of a receiver", rx_rows, ROWS(rx_rows));
	return EXIT_DONE;
}

const struct command command_causes = {
	.name = "causes",
	.summary = "Explain the states of a ledger, and what to do about each",
	.examples = "ipcstall causes nagle\tthis state, and how its fix is written\n"
		    "ipcstall causes\twhat each state of a ledger means, and what to do about it\n"
		    "ipcstall causes --markdown >CAUSES.md\tthe same as a document\n",
	.operands = "[WORD]",
	.takes_operands = true,
	.options = causes_options,
	.options_size = sizeof(struct causes_opts),
	.run = run_causes,
};
