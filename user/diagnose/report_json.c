// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "diagnose/report.h"
#include "render/environment.h"

static const char *const class_names[] = { "none", "possible", "clear" };
static const char *const role_names[ROLES] = { "client", "server" };

static json_t *interval(const struct interval *i)
{
	return json_pack("{s:o, s:o, s:f}", "lo", json_figure(i->lo), "hi", json_figure(i->hi),
			 "level", i->level);
}

static json_t *party(const struct diag_party *w, enum role role)
{
	return json_pack("{s:s, s:o, s:o}", "role", role_names[role], "pid",
			 w->pid ? json_integer(w->pid) : json_null(), "comm",
			 w->pid ? json_text(w->comm) : json_null());
}

static json_t *finding(const struct diagnosed_workload *p, const struct diag_finding *f)
{
	const struct diag_round *r = &p->rounds[p->n_rounds - 1];
	bool loss = f->cause >= DIAG_LOSS_RCVBUF;
	enum role other = loss ? f->role : (enum role) !f->role;
	json_t *o = json_pack("{s:s, s:s, s:f, s:o, s:o}", "cause", diag_cause_name(f->cause),
			      "class", class_names[f->class], "share", f->share, "unexcused",
			      interval(&f->lost), "ns_per_message", json_figure(f->ns_per_message));

	json_object_set_new(o, "episodes_per_round", json_figure(f->count));
	json_object_set_new(o, "sleeps_per_message",
			    f->sleeps ? json_figure(f->sleeps) : json_null());
	json_object_set_new(o, "longest_ns", loss ? json_null() : json_figure(f->max_ns));
	json_object_set_new(o, "waits", loss ? json_null() : party(&r->who[f->role], f->role));
	json_object_set_new(o, "blamed", json_text(blame_names[f->blamed]));
	json_object_set_new(o, "blamed_end",
			    f->blamed == BLAME_PEER_DELACK || f->blamed == BLAME_PEER_READER
				    ? party(&r->who[other], other)
				    : json_null());
	json_object_set_new(o, "blamed_share",
			    f->blamed ? json_figure(f->blamed_share) : json_null());
	json_object_set_new(o, "surety", json_string(surety_names[f->surety]));
	return o;
}

static json_t *trial(const struct diagnosed_workload *p, const struct trial *t)
{
	const struct diag_gain *g = &t->gain;
	json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "name", t->p.fix->name, "said",
			      t->p.fix->said, "sets", t->p.sets, "cause",
			      diag_cause_name(p->stalls.v[t->p.finding].cause));

	json_object_set_new(o, "verdict",
			    t->judged ? json_string(diag_gain_name(g->class)) : json_null());
	json_object_set_new(o, "why_not_run", json_text(t->why_not));
	json_object_set_new(o, "gain", t->judged ? json_figure(g->ratio) : json_null());
	json_object_set_new(o, "interval", t->judged ? interval(&g->ci) : json_null());
	json_object_set_new(o, "promised", t->judged ? json_figure(g->predicted) : json_null());
	json_object_set_new(o, "pairs",
			    t->judged ? json_integer((json_int_t)g->pairs) : json_null());
	json_object_set_new(o, "faster",
			    t->judged ? json_integer((json_int_t)g->faster) : json_null());
	json_object_set_new(o, "wait_ns_before", json_figure(t->wait_before));
	json_object_set_new(o, "wait_ns_after", json_figure(t->wait_after));
	return o;
}

static json_t *work(const struct diag_round *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "client_cpu",
			 json_figure(r->cpu[ROLE_CLIENT]), "server_cpu",
			 json_figure(r->cpu[ROLE_SERVER]), "client_delay",
			 json_figure(r->delay[ROLE_CLIENT]), "server_delay",
			 json_figure(r->delay[ROLE_SERVER]), "device", json_figure(r->device));
}

static json_t *rounds(const struct diagnosed_workload *p)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->n_rounds; i++) {
		const struct diag_round *r = &p->rounds[i];
		json_t *stalls = json_object(), *o;

		for (int role = 0; role < ROLES; role++) {
			json_t *of = json_object();

			for (unsigned int c = 0; r->traced && c < TX_N; c++)
				if (tx_is_stall(c))
					json_object_set_new(of, diag_cause_name(c),
							    json_figure(r->wait[role][c].share));
			json_object_set_new(stalls, role_names[role], of);
		}
		o = json_pack("{s:b, s:f, s:o, s:o, s:o, s:o}", "traced", r->traced, "time_ns",
			      r->cost_ns, "messages", json_figure(r->messages), "lost",
			      json_figure(r->lost), "work", work(r), "stall_shares",
			      r->traced ? stalls : json_null());
		if (!r->traced)
			json_decref(stalls);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *modes(const struct modes *m)
{
	if (isnan(m->dip))
		return json_null();
	return json_pack("{s:f, s:f, s:b, s:o, s:o, s:o}", "dip", m->dip, "p", m->p, "several",
			 m->several, "fast_ns", json_figure(m->fast), "slow_ns",
			 json_figure(m->slow), "slow_share", json_figure(m->slow_share));
}

json_t *report_json(const struct diagnosed_workload *p)
{
	const struct diag_stalls *s = &p->stalls;
	json_t *finds = json_array(), *trials = json_array(), *o;

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(finds, finding(p, &s->v[i]));
	for (size_t i = 0; i < p->n_trials; i++)
		json_array_append_new(trials, trial(p, &p->trials[i]));
	o = json_pack("{s:s, s:I, s:s, s:o, s:o, s:o}", "test", test_name(p->test), "size",
		      (json_int_t)p->size, "outcome", diag_outcome_name(p->outcome), "cause",
		      p->culprit >= 0 ? json_string(diag_cause_name(s->v[p->culprit].cause))
				      : json_null(),
		      "findings", finds, "fixes", trials);
	json_object_set_new(o, "time_ns", json_figure(s->cost_ns));
	json_object_set_new(o, "time_interval", interval(&s->cost));
	json_object_set_new(o, "resolution", json_figure(s->resolution));
	json_object_set_new(o, "kinds_tested", json_integer((json_int_t)s->tested));
	json_object_set_new(o, "most_unexcused", json_figure(s->most_lost));
	json_object_set_new(o, "competing", json_figure(p->competing));
	json_object_set_new(o, "disturbed", json_boolean(p->disturbed));
	json_object_set_new(o, "modes", modes(&p->modes));
	json_object_set_new(o, "rounds", rounds(p));
	return o;
}
