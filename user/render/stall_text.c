// SPDX-License-Identifier: GPL-2.0-only
/* One stall with its evidence: as an object, and as a line. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/ledger_text.h"
#include "render/ledger_outputs.h"

static json_t *frames(const char *text)
{
	json_t *a;

	if (!text)
		return json_null();
	a = json_array();
	while (*text) {
		size_t n = strcspn(text, "\n");

		json_array_append_new(a, json_stringn(text, n));
		text += n + (text[n] == '\n');
	}
	return a;
}

static json_t *held_to_json(const struct trace_held *h)
{
	if (!h->known)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b}", "queued_bytes",
			 (json_int_t)h->queued, "unacked_bytes", (json_int_t)h->unacked,
			 "small_unacked_bytes", (json_int_t)h->small, "mss", (json_int_t)h->mss,
			 "cwnd", (json_int_t)h->cwnd, "in_flight", (json_int_t)h->in_flight,
			 "window_bytes", (json_int_t)h->window, "nodelay", h->nodelay, "cork",
			 h->cork);
}

static json_t *number_or_null(uint64_t v)
{
	return v ? json_integer((json_int_t)v) : json_null();
}

static json_t *peer_ack_to_json(const struct trace_stall *s)
{
	bool fired = s->by_delack == TRACE_DELACK_FIRED;

	if (!s->by_delack)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "owed_since_ns", number_or_null(s->ack_owed_ns),
			 "timer_fired_ns", number_or_null(fired ? s->ack_went_ns : 0), "rode_ns",
			 number_or_null(fired ? 0 : s->ack_went_ns), "withheld_ns",
			 number_or_null(s->ack_owed_ns ? s->ack_went_ns - s->ack_owed_ns : 0));
}

static json_t *released_to_json(const struct trace_stall *s)
{
	if (!s->ack_at_ns)
		return json_null();
	return json_pack("{s:I, s:I, s:I}", "at_ns", (json_int_t)s->ack_at_ns, "acked_bytes",
			 (json_int_t)s->ack_bytes, "payload_bytes", (json_int_t)s->ack_payload);
}

json_t *stall_to_json(const struct stall *st)
{
	const struct trace_stall *s = &st->s;
	json_t *o =
		json_pack("{s:I, s:I, s:I, s:I, s:b, s:s, s:s?}", "serial", (json_int_t)s->serial,
			  "from_ns", (json_int_t)s->from_ns, "to_ns", (json_int_t)s->to_ns, "ns",
			  (json_int_t)(s->to_ns - s->from_ns), "goes_on", s->goes_on, "state",
			  state_name(false, s->state), "blamed", blame_names[stall_blamed(s)]);

	json_object_set_new(o, "pid", number_or_null((uint64_t)s->tgid));
	json_object_set_new(o, "comm",
			    s->tgid ? json_stringn(s->comm, strnlen(s->comm, 16)) : json_null());
	json_object_set_new(o, "peer_serial", number_or_null(s->peer_serial));
	json_object_set_new(o, "peer_pid", number_or_null((uint64_t)s->peer_tgid));
	json_object_set_new(o, "peer_comm",
			    s->peer_tgid ? json_stringn(s->peer_comm, strnlen(s->peer_comm, 16))
					 : json_null());
	json_object_set_new(o, "peer_unread_ns",
			    s->peer_serial ? json_integer((json_int_t)s->peer_unread_ns)
					   : json_null());
	json_object_set_new(o, "peer_no_cpu_ns",
			    s->peer_serial ? json_integer((json_int_t)s->peer_no_cpu_ns)
					   : json_null());
	json_object_set_new(o, "held", held_to_json(&s->held));
	json_object_set_new(o, "peer_ack", peer_ack_to_json(s));
	json_object_set_new(o, "released_by", released_to_json(s));
	json_object_set_new(o, "user_stack", frames(st->stack[STACK_USER]));
	json_object_set_new(o, "kernel_stack", frames(st->stack[STACK_KERNEL]));
	json_object_set_new(o, "peer_user_stack", frames(st->stack[STACK_PEER_USER]));
	json_object_set_new(o, "peer_kernel_stack", frames(st->stack[STACK_PEER_KERNEL]));
	return o;
}

static void add_held(const struct trace_stall *s, char *buf, size_t len)
{
	const struct trace_held *h = &s->held;

	if (!h->known)
		return;
	text_append(buf, len, ": %" PRIu32 " B held", h->queued);
	if (s->state == TX_NAGLE)
		text_append(buf, len, " behind %" PRIu32 " B of small segments not acknowledged",
			    h->small);
	else
		text_append(buf, len,
			    ", %" PRIu32 " B not acknowledged, window %" PRIu32 " B, cwnd %" PRIu32,
			    h->unacked, h->window, h->cwnd);
	text_append(buf, len, "; NODELAY %s, CORK %s", h->nodelay ? "on" : "off",
		    h->cork ? "on" : "off");
}

static void add_release(const struct trace_stall *s, char *buf, size_t len)
{
	char owed[32];

	if (s->by_delack && s->ack_owed_ns) {
		human_ns((double)(s->ack_went_ns - s->ack_owed_ns), owed, sizeof(owed));
		text_append(buf, len, "; the peer owed an ACK for %s until %s", owed,
			    s->by_delack == TRACE_DELACK_FIRED ? "its timer fired"
							       : "it had data to send with it");
	}
	if (s->ack_at_ns && s->ack_bytes)
		text_append(buf, len, "; ended by the ACK of %" PRIu32 " B", s->ack_bytes);
	else if (s->ack_at_ns)
		text_append(buf, len, "; ended by a window update");
}

void stall_line(const struct stall *st, char *buf, size_t len)
{
	const struct trace_stall *s = &st->s;
	enum blamed by = stall_blamed(s);

	snprintf(buf, len, "stall: %s%s %s of %.16s[%d]", s->goes_on ? "for " : "",
		 human_time((double)(s->to_ns - s->from_ns)).text, state_name(false, s->state),
		 s->tgid ? s->comm : "?", s->tgid);
	if (s->peer_tgid)
		text_append(buf, len, ", %s %.16s[%d]",
			    by != BLAME_NOBODY ? "kept waiting by" : "peer", s->peer_comm,
			    s->peer_tgid);
	if (by != BLAME_NOBODY)
		text_append(buf, len, " (%s)",
			    by == BLAME_PEER_DELACK   ? "its delayed ACK"
			    : by == BLAME_PEER_NO_CPU ? "no CPU for it"
						      : "not reading");
	text_append(buf, len, "%s", s->goes_on ? "; it goes on" : "");
	add_held(s, buf, len);
	add_release(s, buf, len);
}
