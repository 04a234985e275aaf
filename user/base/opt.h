/* SPDX-License-Identifier: GPL-2.0-only */
/* Options as typed rows. From the same rows come parsing, validation, --help, the man page, shell
 * completion, the restatement of every option in a result file, and reading them back from there
 * (--repeat). */
#ifndef IPCSTALL_BASE_OPT_H
#define IPCSTALL_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum opt_type {
	OPT_FLAG,     /* bool: present or not; --no-NAME clears it */
	OPT_INT,      /* int64_t within [min, max] */
	OPT_REAL,     /* double within [min, max] */
	OPT_SIZE,     /* int64_t bytes: 64K, 1M, 1G (powers of 1024) */
	OPT_TIME,     /* int64_t ns: 500ms, 3s, 20us; a bare number is seconds */
	OPT_RATE,     /* double per second: 1000, 10k, 2.5M */
	OPT_STRING,   /* char * (points into argv or a duplicate) */
	OPT_ENUM,     /* int: index into choices */
	OPT_SIZES,    /* struct size_list: 64K | 4,16,64 | 1400:9000:+4 | 4:512K:*2 */
	OPT_CPUS,     /* struct cpu_pair: A,B */
	OPT_MULTI,    /* struct str_list: may be given several times */
	OPT_GROUP,    /* a heading in the help; nothing to parse */
};

struct size_list {
	int64_t *v;
	size_t n;
};

struct cpu_pair {
	int a, b; /* -1: not pinned */
};

struct str_list {
	const char **v;
	size_t n;
};

struct opt {
	enum opt_type type;
	char shorthand; /* 0: none */
	const char *name;
	const char *arg; /* the operand's name in the help */
	const char *help;
	size_t offset;	 /* of the field in the caller's options */
	double min, max; /* both 0: no limits but the type's own */
	/* NULL-terminated. OPT_ENUM and OPT_MULTI accept only these; for others, hints for
	 * completion */
	const char *const *choices;
	bool hidden_from_result; /* says where output goes, not what was measured */
};

#define OPT_END \
	{ \
		.name = NULL, .type = OPT_GROUP, .help = NULL \
	}
#define OPT_HEAD(text) \
	{ \
		.type = OPT_GROUP, .help = (text) \
	}

/* Parse argv[1..argc). Stores the operands in argv order in v (room for argc), and which options
 * were given. rest NULL: operands are refused, and nothing is stored. */
enum { OPT_GIVEN_MAX = 256 };
struct opt_operands {
	char **v;
	int n;
	bool stop_at_first; /* the first operand ends the options (`run -- CMD`) */
	bool none;	    /* operands are refused */
	const struct opt *given[OPT_GIVEN_MAX]; /* each once */
	int n_given;
};
int opt_parse(const struct opt *rows, void *into, int argc, char **argv, struct opt_operands *rest,
	      struct err *e);

/* Was the option on the command line, whatever its value? */
bool opt_given(const struct opt_operands *rest, const char *name);

/* Set one option from text, as the command line or a result file would. */
int opt_set(const struct opt *row, void *into, const char *text, struct err *e);
/* into[0..room): all of `own`, then `more` without the names in `but` (ended by NULL). */
void opt_join(struct opt *into, size_t room, const struct opt *own, const struct opt *more,
	      const char *const *but);
/* names: ended by NULL */
bool opt_is_among(const char *name, const char *const *names);

/* the last row of a table */
static inline bool opt_is_end(const struct opt *row)
{
	return !row->name && !row->help;
}

const struct opt *opt_find(const struct opt *rows, const char *name);
void opt_free(const struct opt *rows, void *into);
/* After `into` was assigned from other options: replace its texts and lists by copies of its own,
 * for opt_free(). Returns 0, or -1: no memory, and what could not be copied is empty. */
int opt_own(const struct opt *rows, void *into);

/* values: the options at their defaults, printed if a row's help names none; NULL: not
 * printed. */
void opt_help(const struct opt *rows, const void *values, FILE *out);
/* "  name   text", as the options' rows are */
void opt_help_word(const char *name, const char *text, FILE *out);
void opt_man_word(const char *name, const char *text, FILE *out);
extern const char opt_values_help[]; /* how values are written: units, flags */
/* Text broken at its spaces and line ends so that no line is wider than the help; further lines
 * start at `column`. */
void opt_wrap(FILE *out, const char *text, int column);
/* A command line broken by backslashes, so that a shell accepts it as printed. */
void opt_wrap_command(FILE *out, const char *command, int column);
void opt_man(const struct opt *rows, const void *values, FILE *out);
void opt_man_text(const char *text, FILE *out);
void opt_man_text_n(const char *text, size_t n, FILE *out);
/* A number as one would type it for this row. */
void opt_amount_text(const struct opt *row, double v, char *buf, size_t len);

/* The value as text which opt_set() reads back; empty for an unset string. */
void opt_format(const struct opt *row, const void *from, char *buf, size_t len);

/* The single parsers, for link specs, sweep variables and tests. */
#define SIZE_LIMIT (INT64_C(1) << 30) /* the most bytes in a message */
enum { SIZES_MOST = 10000 };
#define INT64_LIMIT 9e18   /* largest whole number accepted: well below INT64_MAX */
enum { PARSE_RANGE = -2 }; /* a number, but beyond INT64_LIMIT; -1: none */
int parse_size(const char *text, int64_t *out);
/* a pid from 1 to PID_MAX_LIMIT */
int parse_pid(const char *text, long *out);
int parse_time_ns(const char *text, int64_t *out);
int parse_real(const char *text, double *out);
int parse_sizes(const char *text, struct size_list *out, struct err *e);
/* The candidate nearest to `word` by edit distance, NULL when none is near. */
const char *nearest_word(const char *word, const char *const *candidates, size_t n);

#endif
