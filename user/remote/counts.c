// SPDX-License-Identifier: GPL-2.0-only
#include "remote/counts.h"

#include "remote/wire.h"

struct field {
	const char *name;
	size_t offset;
	bool narrow; /* an int, not 64 bits */
};

#define TALLY(f) \
	{ \
#f, offsetof(struct tally, f), false \
	}
#define USAGE(f, narrow) \
	{ \
#f, offsetof(struct tally, usage.f), narrow \
	}
#define RELIABLE(f) \
	{ \
#f, offsetof(struct tally, reliable.f), false \
	}
#define FACT(f, narrow) \
	{ \
#f, offsetof(struct socket_facts, f), narrow \
	}

static const struct field tally_fields[] = {
	TALLY(n), TALLY(messages), TALLY(bytes), TALLY(lost), TALLY(late), TALLY(unclocked),
	USAGE(pid, true), USAGE(cpu_first, true), USAGE(cpu_last, true), USAGE(voluntary, false),
		USAGE(involuntary, false),
	USAGE(user_us, false), USAGE(system_us, false),
	RELIABLE(packets), RELIABLE(transmissions), RELIABLE(retransmits), RELIABLE(stale_acks),
		RELIABLE(arrivals),
	RELIABLE(dropped), RELIABLE(duplicates), RELIABLE(early), RELIABLE(aliens),
	{ NULL },
};

static const struct field fact_fields[] = {
	FACT(sndbuf, false), FACT(rcvbuf, false), FACT(pipe_size, false), FACT(mss, false),
		FACT(nodelay, true),
	FACT(rtt_us, false), FACT(rttvar_us, false), FACT(min_rtt_us, false), FACT(cwnd, false),
		FACT(snd_wnd, false),
	FACT(retransmits, false), FACT(busy_us, false), FACT(rwnd_limited_us, false),
		FACT(sndbuf_limited_us, false),
	FACT(send_errors, false), FACT(strays, false),
	{ NULL },
};

_Static_assert(sizeof(pid_t) == sizeof(int), "pid travels as an int");

static void put(json_t *o, const struct field *f, const void *from)
{
	for (; f->name; f++) {
		const char *p = (const char *)from + f->offset;

		json_object_set_new(
			o, f->name,
			json_integer(f->narrow ? *(const int *)p : *(const int64_t *)p));
	}
}

static int take(const json_t *o, const struct field *f, void *into, struct err *e)
{
	for (; f->name; f++) {
		char *p = (char *)into + f->offset;
		int64_t v;

		if (wire_int(o, f->name, f->narrow ? INT32_MIN : INT64_MIN,
			     f->narrow ? INT32_MAX : INT64_MAX, &v, e))
			return -1;
		if (f->narrow)
			*(int *)p = (int)v;
		else
			*(int64_t *)p = v;
	}
	return 0;
}

static json_t *slices(const struct run *r, const struct tally *t)
{
	json_t *a = json_array();

	for (size_t i = 0; i < t->n_slices; i++) {
		json_array_append_new(a, json_integer((json_int_t)ticks_to_ns(
						 &r->clock, r->sh->slices[i].ticks)));
		json_array_append_new(a, json_integer((json_int_t)r->sh->slices[i].bytes));
	}
	return a;
}

json_t *tally_to_json(const struct run *r, const struct tally *t)
{
	json_t *o = json_object();

	put(o, tally_fields, t);
	json_object_set_new(
		o, "ns",
		json_integer(t->to > t->from ? (json_int_t)ticks_to_ns(&r->clock, t->to - t->from)
					     : 0));
	json_object_set_new(o, "slices", slices(r, t));
	return o;
}

static int take_slices(const struct run *r, struct tally *t, const json_t *a, struct err *e)
{
	size_t n = json_array_size(a) / 2;

	if (n > MAX_SLICES)
		return err_version(e, "the other host: more slices than there is room for; use the "
				      "same version at both ends");
	for (size_t i = 0; i < n; i++) {
		int64_t ns = json_integer_value(json_array_get(a, 2 * i)),
			bytes = json_integer_value(json_array_get(a, 2 * i + 1));

		if (ns <= 0 || bytes < 0)
			return err_version(e, "the other host: a slice without a duration; use the "
					      "same version at both ends");
		r->sh->slices[i] =
			(struct slice){ ns_to_ticks(&r->clock, (uint64_t)ns), (uint64_t)bytes };
	}
	t->n_slices = n;
	return 0;
}

int tally_from_json(const struct run *r, struct tally *t, const json_t *o, struct err *e)
{
	int64_t ns;

	if (take(o, tally_fields, t, e) || wire_int(o, "ns", 0, INT64_MAX, &ns, e))
		return -1;
	t->from = 1; /* only the distance means anything here */
	t->to = 1 + ns_to_ticks(&r->clock, (uint64_t)ns);
	return take_slices(r, t, json_object_get(o, "slices"), e);
}

json_t *facts_to_json(const struct socket_facts *f)
{
	json_t *o = json_pack("{s:s, s:b}", "cc", f->cc, "has_tcp_info", f->has_tcp_info);

	put(o, fact_fields, f);
	return o;
}

int facts_from_json(struct socket_facts *f, const json_t *o, struct err *e)
{
	wire_text(o, "cc", f->cc, sizeof(f->cc));
	f->has_tcp_info = json_is_true(json_object_get(o, "has_tcp_info"));
	return take(o, fact_fields, f, e);
}
