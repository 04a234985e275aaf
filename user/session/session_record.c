// SPDX-License-Identifier: GPL-2.0-only
/* A session that is recorded instead of reported. */
#include <inttypes.h>

#include "session/live_verdict.h"
#include "session/session.h"
#include "base/clock.h"

int session_record_begin(struct session *l, json_t *about, struct err *e)
{
	const struct session_opts *o = l->o;
	json_t *head = session_head(l, about);
	int rc;

	json_object_set_new(head, "recorded",
			    json_pack("{s:b, s:I, s:b, s:I}", "timeline", o->steps, "threshold_ns",
				      (json_int_t)session_threshold(o), "stacks", o->stacks,
				      "interval_ns", (json_int_t)o->interval_ns));
	rc = recorder_begin(l->rec, head, e);
	json_decref(head);
	l->next_ns = now_ns() + (uint64_t)o->interval_ns;
	return rc;
}

/* Records a snapshot, and forgets the closed endpoints: they are in the file now. */
static int record_snapshot(struct session *l, bool last, struct err *e)
{
	struct trace_snapshot s;
	struct verdict v;
	int rc;

	if (session_snapshot(l, &s, e))
		return -1;
	if (last) {
		trace_name_fd_owners(&s);
		trace_name_other_ends(&s);
		live_verdict(&s, &v); /* only for its questions to /proc, which fill `s` */
	}
	rc = recorder_snapshot(l->rec, &s, e);
	l->recorded_ns = s.at_ns;
	trace_snapshot_free(&s);
	trace_forget_closed(l->t);
	return rc;
}

int session_record_tick(struct session *l, struct err *e)
{
	uint64_t now = now_ns();

	if (recorder_flush(l->rec, e))
		return -1;
	if (now < l->next_ns)
		return 0;
	l->next_ns = next_due(l->next_ns, (uint64_t)l->o->interval_ns, now);
	return record_snapshot(l, false, e);
}

static void summary(const struct session *l)
{
	const struct dropped *d = recorder_dropped(l->rec);

	fprintf(stderr, "ipcstall: %s: %.1f MB recorded", l->o->record,
		(double)recorder_size(l->rec) / 1e6);
	if (d->snapshots || d->events || d->stalls || d->closed)
		fprintf(stderr,
			"; dropped to stay within --max-size: %" PRIu64 " snapshots, %" PRIu64
			" steps, %" PRIu64 " stalls and %" PRIu64
			" closed endpoints (the least stalled)",
			d->snapshots, d->events, d->stalls, d->closed);
	fputc('\n', stderr);
}

/* Records the last snapshot before the programs are detached, so that the file holds the state
 * to which the last steps lead. */
int session_record_end(struct session *l, struct err *e)
{
	int rc = err_is_set(e) ? -1 : record_snapshot(l, true, e);

	trace_stop(l->t);
	if (rc == 0) {
		trace_tell_ongoing(l->t, l->recorded_ns);
		rc = recorder_flush(l->rec, e);
	}
	if (rc == 0 && !l->o->quiet)
		summary(l);
	if (recorder_close(l->rec, e))
		rc = -1;
	l->rec = NULL;
	return rc;
}
