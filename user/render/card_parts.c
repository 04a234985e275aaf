// SPDX-License-Identifier: GPL-2.0-only
#include "render/card_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/doing_text.h"
#include "verdict/limit.h"
#include "verdict/merge_findings.h"
#include "verdict/stopped_or_throttled.h"

/* ---- names ---- */

void card_someone(struct who *p, bool several, char *buf, size_t len)
{
	if (several) {
		p->tgid = 0;
		p->others = true;
		p->left = NULL;
	}
	who_name(p, buf, len);
}

/* the program that reads what this endpoint sends, or its address */
void card_reader_name(const struct making *m, const struct finding *f, char *buf, size_t len)
{
	const struct trace_call_stats *b = who_reads(m->s, &m->s->ep[f->endpoint]);

	if (b && b->tgid)
		program_name(b, buf, len);
	else
		address_of_peer(&m->s->ep[f->endpoint], buf, len);
}

/* the process that is blamed for a stall; if none is, the owner of the other end */
void card_blamed_name(const struct making *m, const struct finding *f, char *buf, size_t len)
{
	struct who late = finding_blamed(m->s, f), held_up = finding_sender(m->s, f);

	if (late.tgid && late.tgid == held_up.tgid && !f->all.several_blamed)
		awaited_name(&late, &held_up, buf, len);
	else if (late.tgid || late.others || late.left || late.too_young)
		card_someone(&late, f->all.several_blamed, buf, len);
	else if (f->small_reads ||
		 (f->blamed == BLAME_NOBODY && m->s->ep[f->endpoint].proto != TRACE_PIPE))
		card_reader_name(m, f, buf, len);
	else if (m->s->ep[f->endpoint].proto == TRACE_PIPE)
		snprintf(buf, len, "its reader");
	else
		address_of_peer(&m->s->ep[f->endpoint], buf, len);
}

void card_sender_name(const struct making *m, const struct finding *f, char *buf, size_t len)
{
	struct who held_up = finding_sender(m->s, f);

	card_someone(&held_up, f->all.several_senders, buf, len);
}

/* ---- where ---- */

/* "tcp A > B and 5 more: nagle 833 ms of 836 ms, 19 times, longest 43.9 ms" */
void card_where(struct card *c, const struct trace_endpoint *ep, const struct spent *x)
{
	char name[160], longest[32];

	endpoint_short_name(ep, name, sizeof(name));
	human_ns((double)x->max_ns, longest, sizeof(longest));
	c->spent = *x;
	SET(c->where, "%s", name);
	if (x->connections > 1)
		ADD(c->where, " and %zu more", x->connections - 1);
	ADD(c->where, ": %s%s%s of %s", x->state ? x->state : "", x->state ? " " : "",
	    human_time(x->ns).text, human_time(x->lifetime_ns).text);
	if (x->estimated)
		ADD(c->where, ", estimated");
	memcpy(c->where_brief, c->where, sizeof(c->where_brief));
	if (x->goes_on)
		ADD(c->where_brief, "; it goes on");
	if (x->count)
		ADD(c->where, ", %" PRIu64 " x, longest %s", x->count, longest);
	if (x->goes_on)
		ADD(c->where, "; it goes on");
}

void card_where_spell(const struct making *m, const struct reader_spell *r, const char *state,
		      uint64_t lifetime_ns)
{
	card_where(m->c, &m->s->ep[r->endpoint],
		   &(struct spent){ .state = state,
				    .ns = r->ns,
				    .lifetime_ns = lifetime_ns,
				    .count = r->count,
				    .max_ns = r->max_ns });
}

void card_where_finding(const struct making *m, const struct finding *f)
{
	const struct totals *a = &f->all;

	card_where(m->c, &m->s->ep[f->endpoint],
		   &(struct spent){ .connections = a->connections,
				    .ns = a->ns,
				    .lifetime_ns = a->lifetime_ns,
				    .count = a->count,
				    .max_ns = a->max_ns,
				    .goes_on = f->goes_on });
}

void card_set_surety(struct card *c, enum surety s)
{
	c->has_surety = true;
	c->surety = s;
}

void card_set_fix(struct card *c, const char *fix)
{
	SET(c->fix, "%s", fix);
	c->fix_state = *fix ? FIX_SUGGESTED : FIX_NONE;
}

void card_take_fix(const struct making *m)
{
	card_set_fix(m->c, verdict_fix(m->s, m->v));
}

const char *card_verb_waits(const char *who)
{
	return verb_of(who, "waits", "wait");
}

/* "; it sleeps in flock(), for a lock on a file" */
void card_append_doing(const struct making *m)
{
	char text[DOING_TEXT];
	struct card *c = m->c;
	bool named = !*c->whom || name_is_plural(c->whom) || strstr(c->why, c->whom);

	if (doing_phrase(m->v->doing, text, sizeof(text)))
		ADD(c->why, "; %s %s", named ? "it" : c->whom, text);
}

/* "; sshd[12] sleeps in flock(), for a lock on a file": whom the reader waits for */
void card_append_doing_of_another(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	char text[DOING_TEXT];

	if (doing_phrase(a, text, sizeof(text)))
		ADD(m->c->why, "; %s[%d] %s", a->comm, (int)a->pid, text);
}

void card_fix_doing(const struct making *m, bool reads)
{
	char text[DOING_TEXT];

	doing_fix(m->v->doing, reads, text, sizeof(text));
	if (*text)
		card_set_fix(m->c, text);
}

/* ---- why ---- */

/* "7.72 Mbit/s" */
void card_rate_text(double a_second, const char *unit, char *buf, size_t len)
{
	char text[24];
	size_t n;

	human_count(a_second, text, sizeof(text));
	n = strspn(text, "0123456789.");
	snprintf(buf, len, "%.*s %s%s/s", (int)n, text, text + n, unit);
}

/* "nginx[7] was stopped (signal, debugger or freezer) for 2.00 s"; false: it could run */
bool card_why_halted(const struct making *m, const char *who, const struct trace_call_stats *b,
		     uint64_t ns)
{
	enum halt why = stopped_or_throttled(m->s, b, ns);
	struct card *c = m->c;

	if (why == HALT_NONE)
		return false;
	SET(c->why, "%s %s", who, halt_phrase(m->s, b, ns));
	if (!m->s->samples)
		ADD(c->why, " for %s", human_time((double)halted_ns(m->s, b, why)).text);
	card_set_fix(c, halt_fix(m->s, b, ns));
	return true;
}

/* the longest spell; samples see no episodes, so for them the whole time */
uint64_t card_longest_of(const struct reader_spell *r)
{
	return r->max_ns ? r->max_ns : r->ns;
}

const char card_serve_more_fix[] =
	"serve more clients at once (workers, threads), or each of them faster";

const char card_accept_fix[] = "call accept() sooner, or from more threads";

double card_busy_share(const struct trace_call_stats *sender, const struct trace_endpoint *ep)
{
	return sender ? sender_cpu_share(sender, ep) : 0;
}

void card_append_share_of_cpu(struct card *c, double busy)
{
	if (busy >= BUSY)
		ADD(c->why, "; on its CPU %.0f %%", 100 * busy);
}
