// SPDX-License-Identifier: GPL-2.0-only
#include "session/live_verdict.h"
#include "session/prover.h"
#include "session/sampling.h"
#include "session/session.h"
#include "session/sleep_chain.h"
#include "verdict/judge.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"

static void print_frames(const char *title, const char *text)
{
	if (text)
		fprintf(stderr, "    %s\n", title);
	while (text && *text) {
		int n = (int)strcspn(text, "\n");

		fprintf(stderr, "        %.*s\n", n, text);
		text += n + (text[n] == '\n');
	}
}

static void print_stall(const struct stall *st)
{
	char line[512];

	stall_line(st, line, sizeof(line));
	flockfile(stderr);
	fprintf(stderr, "%s\n", line);
	print_frames("in the kernel", st->stack[STACK_KERNEL]);
	print_frames("in the program", st->stack[STACK_USER]);
	print_frames("the other end's reader meanwhile, in the kernel",
		     st->stack[STACK_PEER_KERNEL]);
	print_frames("the other end's reader meanwhile, in the program",
		     st->stack[STACK_PEER_USER]);
	funlockfile(stderr);
}

/* Resolved at once: a process that has ended by the end of the session has no symbols left. */
static const char *stack_text(struct session *l, int id, pid_t tgid)
{
	char buf[8192];

	return id >= 0 && trace_stack(l->t, id, tgid, buf, sizeof(buf)) > 0
		       ? stalls_text(&l->stalls, buf)
		       : NULL;
}

static void on_stall(void *ctx, const struct trace_stall *s)
{
	struct session *l = ctx;
	struct stall st = { .s = *s };

	if (session_wants_stacks(l->o)) {
		st.stack[STACK_USER] = stack_text(l, s->ustack, s->tgid);
		st.stack[STACK_KERNEL] = stack_text(l, s->kstack, s->tgid);
		st.stack[STACK_PEER_USER] = stack_text(l, s->peer_ustack, s->peer_tgid);
		st.stack[STACK_PEER_KERNEL] = stack_text(l, s->peer_kstack, s->peer_tgid);
	}
	if (l->rec) {
		recorder_stall(l->rec, &st);
		return;
	}
	stalls_add(&l->stalls, &st);
	if (l->o->threshold_ns && !l->o->quiet)
		print_stall(&st);
	if (__atomic_load_n(&l->streaming, __ATOMIC_ACQUIRE))
		ledger_stream_stall(&l->stream, &st);
}

static void on_transition(void *ctx, const struct trace_transition *tr)
{
	struct session *l = ctx;

	if (l->rec)
		recorder_transition(l->rec, tr);
	else
		timeline_add(&l->timeline, tr);
}

static void set_records(struct session *l, const struct session_opts *o, struct trace_options *t)
{
	t->stacks = session_wants_stacks(o);
	t->stall_threshold_ns = session_threshold(o);
	t->on_stall = on_stall;
	t->timeline =
		session_wants_timeline(o) || o->steps ? TRACE_TIMELINE_ALL : TRACE_TIMELINE_NONE;
	t->on_transition = on_transition;
	t->ctx = l;
	l->stalls.max = STALLS_KEPT;
	l->timeline.max = (size_t)o->timeline_max;
}

static pid_t only_target(const struct trace_options *filter)
{
	bool listed = filter->filter == TRACE_FILTER_TGIDS || filter->filter == TRACE_FILTER_TREE;

	return listed && filter->n_tgids == 1 ? filter->tgids[0] : 0;
}

int session_open(struct session *l, const struct session_opts *o, struct trace_options *filter,
		 struct err *e)
{
	l->o = o;
	l->only_target = only_target(filter);
	progress_in_pipe(o->progress);
	progress_word(o->quiet, "loading probes");
	filter->backend = (enum trace_backend)o->backend;
	filter->max_endpoints = (unsigned int)o->max_endpoints;
	filter->max_closed = o->max_closed ? o->max_closed : filter->max_endpoints;
	if (session_seen(o, filter, e) || sampling_options(o, filter, e))
		return -1;
	if (o->record && !(l->rec = recorder_new(o->record, (uint64_t)o->max_size)))
		return err_resource(e, "%s: no memory to record; free some and run again",
				    o->record);
	l->t = trace_prepare(filter, e);
	if (!l->t || (o->cost && trace_cost_enable(l->t, e)) || trace_start(l->t, e)) {
		session_free(l);
		return -1;
	}
	progress_clear(o->quiet);
	l->began_ns = now_ns();
	return 0;
}

int session_begin(struct session *l, const struct session_opts *o, struct trace_options *filter,
		  struct err *e)
{
	*l = (struct session){ .o = o };
	set_records(l, o, filter);
	return session_check_outputs(o, NULL, e) ? -1 : session_open(l, o, filter, e);
}

int session_announce(struct session *l, json_t *about, struct err *e)
{
	json_t *head;
	int rc;

	if (l->rec)
		return session_record_begin(l, about, e);
	if (!l->o->ndjson)
		return 0;
	head = session_head(l, about);
	rc = ledger_stream_open(&l->stream, l->o->ndjson, head, e);
	json_decref(head);
	l->next_ns = now_ns() + (uint64_t)l->o->interval_ns;
	__atomic_store_n(&l->streaming, rc == 0, __ATOMIC_RELEASE);
	return rc;
}

static void look_at_target(struct session *l)
{
	bool is_single = l->only_target && asleep_only_thread(l->only_target);

	l->own.pid = l->own.tid = l->only_target;
	if (l->only_target && asleep_sample(&l->own))
		l->has_threads |= !is_single;
}

int session_tick(struct session *l, struct err *e)
{
	uint64_t now = now_ns();
	struct trace_snapshot s;
	struct verdict v;

	if (!l->shares_terminal)
		progress_time(l->o->quiet, l->rec ? "recording" : "tracing", l->began_ns,
			      (uint64_t)l->o->duration_ns);
	if (l->rec)
		return session_record_tick(l, e);
	if (!l->o->sampled)
		culprits_tick(&l->culprits, l->t);
	look_at_target(l);
	if (!l->streaming)
		return 0;
	if (!ledger_stream_works(&l->stream))
		return -1; /* session_end() says why */
	if (now < l->next_ns)
		return 0;
	l->next_ns = next_due(l->next_ns, (uint64_t)l->o->interval_ns, now);
	if (session_snapshot(l, &s, e))
		return -1;
	verdict_make(&s, &v);
	ledger_stream_snapshot(&l->stream, &s, &v);
	trace_snapshot_free(&s);
	return 0;
}

/* If nothing was observed, or nothing waits needlessly, the target itself may sleep in some
 * other call. */
static const struct asleep *target_sleeps(struct session *l)
{
	const struct verdict *v = &l->verdict;

	asleep_sort(&l->own);
	if (v->kind == KIND_UNSEEN
		    ? !l->own.samples || v->n_unseen
		    : v->kind != KIND_QUIET || l->has_threads || !asleep_is_elsewhere(&l->own))
		return NULL;
	sleep_chain_follow(&l->own, false, UINT64_MAX, NULL);
	return &l->own;
}

static void note_mptcp(struct session *l)
{
	bool asks = l->verdict.kind == KIND_UNSEEN && l->only_target;
	size_t n = asks ? trace_mptcp_sockets(l->only_target) : 0;

	if (!n)
		return;
	l->verdict.unseen = TRACE_UNSEEN_MPTCP;
	l->verdict.n_unseen += n;
	l->verdict.n_active += n;
}

/* A finding with this share of the time that has not ended goes on now. */
#define GOES_ON 0.9

static const struct asleep *doing_meanwhile(struct session *l)
{
	const struct asleep *a =
		l->prover ? prover_doing(l->prover, &l->end, &l->verdict) : NULL;

	if (!a && l->o->sampled && l->verdict.outcome != OUTCOME_HEALTHY &&
	    l->verdict.share >= GOES_ON)
		culprits_sample_now(&l->culprits, &l->end, &l->verdict);
	if (!a)
		a = culprits_doing(&l->culprits, &l->end, &l->verdict);
	return a ? a : target_sleeps(l);
}

static bool is_proven(const struct session *l)
{
	return l->prover && prover_answer(l->prover, &l->end, &l->verdict);
}

/* Takes the last snapshot, and stops. */
static int session_end(struct session *l, struct err *e)
{
	progress_clear(l->o->quiet || l->shares_terminal);
	if (l->rec)
		return session_record_end(l, e);
	if (session_snapshot(l, &l->end, e))
		return -1;
	trace_stop(l->t);
	trace_tell_ongoing(l->t, l->end.at_ns);
	trace_name_fd_owners(&l->end);
	trace_name_other_ends(&l->end);
	culprits_name_ended(&l->culprits, &l->end);
	trace_count_other_drops(&l->end);
	live_verdict(&l->end, &l->verdict);
	if (l->prover)
		prover_confirm(l->prover, &l->end, &l->verdict);
	note_mptcp(l);
	l->verdict.doing = doing_meanwhile(l);
	verdict_link_doing(&l->end, &l->verdict);
	if (l->only_target && asleep_only_thread(l->only_target) && !is_proven(l))
		judge_own_call(&l->verdict);
	if (!l->streaming)
		return 0;
	ledger_stream_snapshot(&l->stream, &l->end, &l->verdict);
	l->streaming = false;
	return ledger_stream_close(&l->stream, true, e);
}

/* If the stream's reader is gone, only the stream ends. The other outputs still get all that was
 * seen. */
int session_end_and_report(struct session *l, json_t *about, struct err *e)
{
	struct err later = {};
	int rc = session_end(l, e) || err_is_set(e) ? -1 : 0;

	if (rc && !l->end.ep)
		return -1;
	return session_report(l, about, rc ? &later : e) ? -1 : rc;
}

void session_free(struct session *l)
{
	culprits_end(&l->culprits);
	trace_snapshot_free(&l->end);
	if (l->t)
		trace_finish(l->t);
	l->t = NULL;
	if (l->rec)
		recorder_close(l->rec, &(struct err){});
	l->rec = NULL;
	stalls_free(&l->stalls);
	timeline_free(&l->timeline);
}
