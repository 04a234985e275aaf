// SPDX-License-Identifier: GPL-2.0-only
/* Makes the text of a card from a verdict: one function for each kind of finding. */
#include "render/card.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "render/doing_text.h"
#include "render/environment.h"
#include "verdict/live_fix.h"
#include "verdict/merge_findings.h"
#include "verdict/own_window.h"
#include "verdict/unsampled_connections.h"

#include "render/card_parts.h"

static const char *const fix_state_names[FIX_STATES] = { NULL, "suggested", "proven", "refuted" };

/* ---- no finding ---- */

/* Samples miss refused sends, which do not sleep, and single messages, which leave no trace. */
static void what_samples_do_not_see(const struct making *m)
{
	size_t unsampled = count_unsampled(m->s);
	struct card *c = m->c;

	if (unsampled)
		SET(c->why, "%zu of them ended before they were sampled", unsampled);
	SET(c->next, "samples miss refused sends and single messages; --exact sees them");
}

static void card_of_busy_sender(const struct making *m)
{
	const struct busy_sender *busy = &m->v->busy_sender;
	const struct trace_endpoint *ep = &m->s->ep[busy->endpoint];
	struct card *c = m->c;

	program_name(who_sends(m->s, ep), c->who, sizeof(c->who));
	program_name(&ep->rx_calls, c->whom, sizeof(c->whom));
	SET(c->head, "%s to %s, limited by: %s", c->who, c->whom, limit_phrase(LIMIT_WRITER_CPU));
	card_where(c, ep,
		   &(struct spent){ .state = "wait",
				    .ns = ep->rx.ns[RX_WAIT],
				    .lifetime_ns = ep->rx.lifetime_ns });
	append_busy_sender(m->s, m->v, c->why, sizeof(c->why));
	card_set_surety(c, SEEN_BOTH_ENDS);
}

/* Says what the only traced process waits for that is neither a socket nor a pipe. */
static void append_own_sleep(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	char text[DOING_TEXT];

	if (doing_phrase(a, text, sizeof(text)))
		ADD(m->c->why, "%s%s[%d] itself %s", *m->c->why ? "; " : "", a->comm, (int)a->pid,
		    text);
}

/* ---- a download, of which only the reader was traced ---- */

#define ONE_WAY	    10	/* times as much as it sends */
#define LITTLE_LEFT 0.1 /* of its time */

static bool is_download(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->peer < 0 && ep->rx_calls.tgid &&
	       !ep->making.accepted && ep->local.port >= TRACE_EPHEMERAL_PORT &&
	       ep->rx_calls.bytes >= MUCH_CAME &&
	       ep->rx_calls.bytes >= ONE_WAY * ep->tx_calls.bytes &&
	       ep->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN &&
	       (double)ep->rx.ns[RX_UNREAD] < LITTLE_LEFT * (double)ep->rx.lifetime_ns;
}

/* "rclone[7] got 227 kB/s from 192.0.2.1:80, and left hardly any of it unread" */
static void append_download(const struct making *m)
{
	const struct trace_endpoint *ep = NULL;
	char name[PARTY_TEXT], from[64], rate[24];

	for (size_t i = 0; i < m->s->n; i++)
		if (is_download(&m->s->ep[i]) &&
		    (!ep || m->s->ep[i].rx_calls.bytes > ep->rx_calls.bytes))
			ep = &m->s->ep[i];
	if (!ep)
		return;
	program_name(&ep->rx_calls, name, sizeof(name));
	address_of_peer(ep, from, sizeof(from));
	card_rate_text(rate_of_receiving(ep), "B", rate, sizeof(rate));
	ADD(m->c->why, "%s%s got %s from %s, and left hardly any of it unread",
	    *m->c->why ? "; " : "", name, rate, from);
}

void card_quiet(const struct making *m)
{
	struct card *c = m->c;

	if (m->v->busy_sender.endpoint >= 0) {
		card_of_busy_sender(m);
		return;
	}
	SET(c->head, "%zu connection%s, nothing waits needlessly", m->v->n_active,
	    plural(m->v->n_active));
	if (m->v->lifetime_ns)
		SET(c->where, "stalls add up to %s, %.2f %% of the senders' time",
		    human_time(m->v->stall_ns).text, 100 * m->v->share);
	append_busy_reader(m->s, m->v, c->why, sizeof(c->why));
	append_quick_answers(m->s, m->v, c->why, sizeof(c->why));
	if (m->s->samples)
		what_samples_do_not_see(m);
	append_download(m);
	append_own_sleep(m);
}

void card_opening(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	struct card *c = m->c;
	char text[DOING_TEXT];

	SET(c->who, "%s[%d]", a->comm, (int)a->pid);
	if (a->n_chain)
		SET(c->whom, "%s[%d]", a->chain[0].comm, (int)a->chain[0].pid);
	else
		SET(c->whom, "another program");
	SET(c->head,
	    asleep_connects(&a->v[0]) ? "%s waits for %s to accept the connection"
				      : "%s waits for %s to open a FIFO",
	    c->who, c->whom);
	SET(c->where, "%s: in %u of %u samples", a->v[0].path, asleep_in_call(a, 0), a->samples);
	doing_phrase(a, text, sizeof(text));
	SET(c->why, "%s %s", c->who, text);
	doing_next(a, c->next, sizeof(c->next));
}

/* Says what the only traced process does instead; false: that is not known. */
static bool why_of_idle(const struct making *m)
{
	const struct asleep *a = m->v->doing;
	char text[DOING_TEXT];

	if (!doing_phrase(a, text, sizeof(text)))
		return false;
	SET(m->c->why, "nothing was sent or awaited; %s[%d] %s", a->comm, (int)a->pid, text);
	if (!*a->v[0].path)
		SET(m->c->next, "see what else it does: sudo strace -f -p %d", (int)a->pid);
	return true;
}

/* Existing connections without traffic are told apart from no connection at all. */
static void head_of_idle(const struct making *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->s->n; i++)
		n += m->s->ep[i].proto != TRACE_PIPE && !m->s->ep[i].closed;
	if (n)
		SET(m->c->head, "%zu connection%s, and nothing was sent on %s", n, plural(n),
		    n == 1 ? "it" : "them");
	else
		SET(m->c->head, "nothing was observed");
}

void card_unseen(const struct making *m)
{
	struct card *c = m->c;

	if (m->v->n_unseen) {
		SET(c->head, "%zu of %zu connections could not be observed", m->v->n_unseen,
		    m->v->n_active);
		SET(c->why, "no hook of this backend sees %s", trace_unseen_name(m->v->unseen));
		return;
	}
	if (m->v->n_unknown) {
		SET(c->head, "it is unknown why the senders waited");
		SET(c->why, "no hook saw their calls");
		SET(c->next, "sudo ipcstall check shows what this kernel lets ipcstall see");
		return;
	}
	head_of_idle(m);
	if (why_of_idle(m))
		return;
	if (m->s->samples) {
		SET(c->why,
		    "no sample found a traced program waiting for data, or data waiting for it: it "
		    "had ended, was idle, or waits for several descriptors at once (poll, epoll)");
		SET(c->next, "trace every message of the same programs: --exact");
		return;
	}
	SET(c->why, "no traced program sent or received through a socket or a pipe: it had ended, "
		    "was idle, or uses something else");
	SET(c->next, m->s->everything
			     ? "start before the traffic does, or trace for longer: sudo "
			       "ipcstall attach -a -d 60s"
			     : "start before the traffic does, or trace every program: sudo "
			       "ipcstall attach -a -d 10s");
}

typedef void make(const struct making *m);

static make *const makers[KINDS_N] = {
#define MAKER(sym, name) [sym] = card_##name,
	FINDING_KINDS(MAKER)
};

static const char *cause_of(const struct verdict *v)
{
	if (v->kind == KIND_STALL || v->kind == KIND_LIMIT)
		return trace_tx_names[v->v[v->lead].cause];
	return v->kind == KIND_SCATTERED && v->scattered.cause_ns
		       ? trace_tx_names[v->scattered.cause]
		       : NULL;
}

#define KIND_NAME(sym, name) [sym] = #name,
static const char *const kind_names[KINDS_N] = { FINDING_KINDS(KIND_NAME) };

/* No option helps against a reader that does not read, or a path that drops packets. */
static bool may_be_cured(const struct finding *f)
{
	return f->cause != TX_RECOVERY && !(f->blamed == BLAME_PEER_READER && f->cause == TX_RWND);
}

void card_point_to_try(const struct trace_snapshot *s, const struct verdict *v, struct card *c)
{
	const struct finding *f = v->kind == KIND_STALL ? &v->v[v->lead] : NULL;
	const struct live_fix *fixes[LIVE_FIXES_MAX];
	pid_t pid;

	if (f && f->root >= 0)
		f = &v->v[f->root];
	if (!f || !may_be_cured(f) || !*c->fix || f->circle || f->deadlock >= 0 || f->small_reads ||
	    f->by_loss || !strcmp(c->fix, read_while_writing_fix) || reader_halted(s, f) ||
	    (f->blamed == BLAME_PEER_READER && f->cause == TX_SNDBUF) ||
	    !live_fixes_for(f, s->ep[f->endpoint].proto, fixes))
		return;
	pid = finding_sender(s, f).tgid;
	if (pid)
		ADD(c->fix, "; `ipcstall try -p %d --fix %s` proves it", pid, fixes[0]->setting);
}

void card_make(const struct trace_snapshot *s, const struct verdict *v, struct card *c)
{
	struct making m = { s, v, c };

	*c = (struct card){ .outcome = v->outcome,
			    .kind = v->kind,
			    .cause = cause_of(v),
			    .share = fmin(v->share, 1) };
	if (isnan(v->share))
		c->share = NAN;
	makers[v->kind](&m);
	c->n_also = verdict_also(s, v, c->also, VERDICT_ALSO);
}

static json_t *figure_unless_0(uint64_t ns)
{
	return ns ? json_integer((json_int_t)ns) : json_null();
}

static void add_spent(json_t *o, const struct spent *x)
{
	bool told = x->lifetime_ns;

	json_object_set_new(o, "ns", told ? json_integer((json_int_t)x->ns) : json_null());
	json_object_set_new(o, "of_ns", figure_unless_0(x->lifetime_ns));
	json_object_set_new(o, "count", figure_unless_0(x->count));
	json_object_set_new(o, "max_ns", figure_unless_0(x->count ? x->max_ns : 0));
}

json_t *card_to_json(const struct card *c)
{
	json_t *also = json_array(), *o;

	for (size_t i = 0; i < c->n_also; i++)
		json_array_append_new(also, json_string(c->also[i]));
	o = json_pack("{s:s, s:s?, s:o, s:s, s:s, s:s, s:s, s:s, s:s?, s:s, s:s?, s:s, s:o}",
		      "kind", kind_names[c->kind], "cause", c->cause, "share",
		      json_figure(c->share), "who", c->who, "for_whom", c->whom, "head", c->head,
		      "where", c->where, "why", c->why, "surety",
		      c->has_surety ? surety_names[c->surety] : NULL, "fix", c->fix, "fix_state",
		      fix_state_names[c->fix_state], "next", c->next, "also", also);
	if (o)
		add_spent(o, &c->spent);
	return o;
}
