// SPDX-License-Identifier: GPL-2.0-only
/* The end of a session: the table on stderr, and every file that was asked for. */
#include <inttypes.h>

#include "base/human.h"
#include "base/opt.h"
#include "base/text.h"
#include "render/ledger_text.h"
#include "session/prover.h"
#include "session/session.h"

static void cost_table(struct session *l, FILE *out)
{
	struct trace_cost c[64];
	size_t n = trace_costs(l->t, c, 64);

	fprintf(out, "  cost of the tracing itself, as the kernel counted it:\n");
	for (size_t i = 0; i < n; i++)
		if (c[i].runs)
			fprintf(out, "    %-28s %10llu runs  %7.0f ns each\n", c[i].name,
				(unsigned long long)c[i].runs, (double)c[i].ns / (double)c[i].runs);
}

/* The index of the proof that the card shows; null: none. */
static json_t *answer_to_json(const struct session *l)
{
	const struct proof *answer = prover_answer(l->prover, &l->end, &l->verdict);

	return answer ? json_integer(answer - l->prover->proofs) : json_null();
}

static int write_files(struct session *l, json_t *about, struct err *e)
{
	struct ledger_view view = {
		.s = &l->end, .v = &l->verdict, .stalls = &l->stalls, .timeline = &l->timeline,
		.wants_stalls = session_wants_stalls(l->o),
			.wants_timeline = session_wants_timeline(l->o),
	};
	int rc = 0;

	view.head = session_head(l, about);
	if (l->prover && l->o->sampled)
		json_object_set_new(view.head, "answer", answer_to_json(l));
	for (enum ledger_output i = 0; i < LEDGER_OUTPUTS_N; i++)
		if (l->o->out[i] && ledger_write(i, &view, l->o->out[i], e))
			rc = -1;
	if (l->o->html && session_html(&view, l->o->html, e))
		rc = -1;
	json_decref(view.head);
	return rc;
}

/* Printed even with --quiet: a file without these stalls looks complete. */
static void say_left_out(const struct session *l)
{
	if (l->stalls.dropped && (l->o->out[OUT_JSON] || l->o->out[OUT_FOLDED]))
		fprintf(stderr,
			"ipcstall: %" PRIu64 " stalls older than the newest %d left out; give a "
					     "longer --threshold, or record the session\n",
			l->stalls.dropped, STALLS_KEPT);
}

/* share of the samples: less is not reported */
#define OFTEN 0.1

/* "thread 7 in 25 samples (75 between requests are left out): in fsync() (a disk) 24 times" */
static void say_asleep(const struct asleep *a)
{
	char text[400], call[40];
	const char *what;
	unsigned int said = 0;

	snprintf(text, sizeof(text), "thread %d in %u samples", (int)a->tid, a->samples);
	if (a->rests)
		text_append(text, sizeof(text), " (%u between requests are left out)", a->rests);
	text_append(text, sizeof(text), ":");
	for (size_t i = 0; i < a->n; i++) {
		unsigned int found = asleep_in_call(a, i);

		if (found <= OFTEN * a->samples)
			continue;
		asleep_name(a->v[i].nr, call, sizeof(call));
		what = asleep_for(&a->v[i]);
		text_append(text, sizeof(text), "%s in %s%s%s%s%s %u times", said++ ? "," : "",
			    call, a->v[i].nr < 0 ? "" : "()", what ? " (" : "",
			    what ? what : "", what ? ")" : "", found);
	}
	if (a->running > OFTEN * a->samples)
		text_append(text, sizeof(text), "%s running, or waiting for a CPU, %u times",
			    said++ ? "," : "", a->running);
	if (!said)
		return;
	fputs("  asleep ", stderr);
	opt_wrap(stderr, text, 9);
}

/* The card shows the proof. A line below it tells what the samples of the whole session say. */
static void say_samples(const struct session *l, const struct proof *proof)
{
	char text[VERDICT_TEXT], line[VERDICT_TEXT + 128], exact[32];
	struct paint p = paint_on(stderr, (enum colour_when)l->o->colour);

	human_ns((double)proof->ns, exact, sizeof(exact));
	verdict_sentence(&l->end, &l->verdict, text, sizeof(text));
	snprintf(line, sizeof(line), "the card shows exact tracing of %s; samples of %s say: %s",
		 exact, human_time(l->verdict.observed_ns).text, text);
	fputs("  proof  ", stderr);
	opt_wrap(stderr, line, 9);
	sampling_line(&l->end.sampling, l->end.at_ns, &p);
}

static void say_answer(const struct session *l)
{
	bool shows = l->prover && !l->o->ledger;
	const struct proof *answer = shows ? prover_answer(l->prover, &l->end, &l->verdict) : NULL;
	const struct verdict *v = answer ? &answer->v : &l->verdict;

	session_screen(l->o, answer ? &answer->s : &l->end, v, stderr);
	if (v->doing)
		say_asleep(v->doing);
	if (answer)
		say_samples(l, answer);
	if (l->prover)
		prover_print(l->prover, answer, v->outcome == OUTCOME_HEALTHY, stderr);
}

int session_report(struct session *l, json_t *about, struct err *e)
{
	char refusal[256];
	int rc = 0;

	if (l->o->record)
		return 0;
	if (!l->o->quiet) {
		say_answer(l);
		if (l->o->cost)
			cost_table(l, stderr);
		if (trace_refusal(l->t, refusal, sizeof(refusal)))
			fprintf(stderr, "ipcstall: %s\n", refusal);
	}
	say_left_out(l);
	rc = write_files(l, about, e);
	if (rc == 0 && l->verdict.unaccounted_ns)
		rc = err_set(e, EXIT_BUG,
			     "ledger: %lld ns unaccounted for: a bug in ipcstall; please report "
			     "it, with the file of --json",
			     (long long)l->verdict.unaccounted_ns);
	return rc;
}

void session_screen(const struct session_opts *o, const struct trace_snapshot *s,
		    const struct verdict *v, FILE *out)
{
	struct paint p = paint_on(out, (enum colour_when)o->colour);

	verdict_screen(s, v,
		       &(struct card_extent){ .shown = (size_t)o->shown, .ledger = o->ledger,
				.live = o->pids.n || o->comm || o->cgroup || o->all },
		       &p);
}
