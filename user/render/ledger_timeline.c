// SPDX-License-Identifier: GPL-2.0-only
/* The timeline file: a header, then one line for each change of state and each mark, in order of
 * time, then an end record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "render/ledger_text.h"
#include "render/ledger_outputs.h"
#include "render/sink.h"

/* the order within one instant: ends, beginnings, marks */
enum kind { ENDS, BEGINS, MARK };

struct line {
	uint64_t t, serial, bytes;
	uint8_t kind, rx, what; /* a state, or a mark */
};

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return COMPARE(x->t, y->t) ?: COMPARE(x->kind, y->kind) ?:
	       COMPARE(x->serial, y->serial) ?: COMPARE(x->rx, y->rx);
}

/* A state ends when the next begins; if none follows, its end is written. A state that still lasts
 * has no end, since endpoints are read one after the other. */
static size_t add_spans(struct line *v, const struct spans *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct span *sp = &s->v[i];

		v[n++] = (struct line){ sp->start, sp->serial, 0, BEGINS, sp->rx, sp->state };
		if (!sp->joined && !sp->lasts)
			v[n++] = (struct line){ sp->end, sp->serial, 0, ENDS, sp->rx, 0 };
	}
	return n;
}

/* end: the last snapshot; marks after it belong to no ledger that is shown */
static size_t add_marks(struct line *v, const struct timeline *t, uint64_t end)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct trace_transition *tr = timeline_at(t, i);

		if (tr->mark && tr->at_ns <= end)
			v[n++] = (struct line){
				tr->at_ns, tr->serial, tr->bytes, MARK, 0, tr->mark
			};
	}
	return n;
}

static void print_line(FILE *f, const struct line *l)
{
	if (l->kind == MARK)
		fprintf(f,
			"{\"t\":%" PRIu64 ",\"ep\":\"%" PRIu64
			"\",\"event\":\"%s\",\"bytes\":%" PRIu64 "}\n",
			l->t, l->serial, trace_mark_name(l->what) ? trace_mark_name(l->what) : "?",
			l->bytes);
	else if (l->kind == BEGINS)
		fprintf(f,
			"{\"t\":%" PRIu64 ",\"ep\":\"%" PRIu64
			"\",\"ledger\":\"%s\",\"state\":\"%s\"}\n",
			l->t, l->serial, l->rx ? "rx" : "tx", state_name(l->rx, l->what));
	else
		fprintf(f,
			"{\"t\":%" PRIu64 ",\"ep\":\"%" PRIu64
			"\",\"ledger\":\"%s\",\"state\":null}\n",
			l->t, l->serial, l->rx ? "rx" : "tx");
}

/* a short name that tells an endpoint from the others of its process */
static void short_name(const struct trace_endpoint *ep, char *buf, size_t len)
{
	if (ep->local.port)
		snprintf(buf, len, ":%u", ep->local.port);
	else
		snprintf(buf, len, "%s %" PRIu64, trace_proto_name(ep->proto),
			 ep->inode ? ep->inode : ep->serial);
}

/* Adds a pipe's reader: a pipe's ends are one endpoint, which another program reads. */
static void add_reader(json_t *o, const struct trace_call_stats *writer,
		       const struct trace_call_stats *reader)
{
	if (!reader->tgid || reader->tgid == writer->tgid)
		return;
	json_object_set_new(o, "reader_comm",
			    json_stringn(reader->comm, strnlen(reader->comm, 16)));
	json_object_set_new(o, "reader_pid", json_integer(reader->tgid));
}

static json_t *endpoint_row(const struct ledger_view *view, const struct trace_endpoint *ep)
{
	const struct trace_snapshot *s = view->s;
	const struct trace_call_stats *b = ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
	char serial[24], name[160], role[48];
	json_t *o;

	snprintf(serial, sizeof(serial), "%" PRIu64, ep->serial);
	endpoint_name(ep, name, sizeof(name));
	if (view->role)
		snprintf(role, sizeof(role), "%s", view->role(view->ctx, ep));
	else
		short_name(ep, role, sizeof(role));
	o = json_pack("{s:s, s:s, s:s, s:s, s:o}", "ep", serial, "role", role, "name", name,
		      "proto", trace_proto_name(ep->proto), "comm",
		      b->tgid ? json_stringn(b->comm, strnlen(b->comm, 16)) : json_null());
	json_object_set_new(o, "pid", b->tgid ? json_integer(b->tgid) : json_null());
	snprintf(serial, sizeof(serial), "%" PRIu64, ep->peer >= 0 ? s->ep[ep->peer].serial : 0);
	json_object_set_new(o, "peer", ep->peer >= 0 ? json_string(serial) : json_null());
	if (ep->proto == TRACE_PIPE)
		add_reader(o, b, &ep->rx_calls);
	return o;
}

/* the most stalled first, as in the table */
static json_t *header(const struct ledger_view *view)
{
	json_t *doc = json_pack("{s:s, s:i}", "schema", "ipcstall.timeline", "version", 1),
	       *eps = json_array();

	size_t n, *order = endpoints_by_stall(view->s, &n);

	for (size_t i = 0; order && eps && i < n; i++)
		append_or_drop(&eps, endpoint_row(view, &view->s->ep[order[i]]));
	free(order);
	if (!json_object_update_missing(doc, view->head) &&
	    !json_object_set_new(doc, "endpoints", eps))
		return doc;
	json_decref(doc);
	return NULL;
}

static void print_all(FILE *f, json_t *head, const struct ledger_view *view, const struct line *v,
		      size_t n, uint64_t end)
{
	uint64_t lost = view->s->counters.events_lost + view->timeline->dropped;

	json_dumpf(head, f, JSON_COMPACT);
	fputc('\n', f);
	for (size_t i = 0; i < n && !ferror(f); i++)
		print_line(f, &v[i]);
	fprintf(f,
		"{\"end\":{\"t\":%" PRIu64 ",\"events\":%zu,\"lost\":%" PRIu64
		",\"complete\":%s}}\n",
		end, n, lost, lost ? "false" : "true");
}

int ledger_timeline_write(const struct ledger_view *view, const char *path, struct err *e)
{
	struct spans s = {};
	struct line *v = NULL;
	json_t *head;
	uint64_t end;
	size_t n = 0;
	FILE *f;
	int rc;

	if (timeline_spans(view->timeline, view->s, &s) == 0)
		v = array_new(2 * s.n + view->timeline->n, 1, sizeof(*v));
	head = header(view);
	if (!v || !head) {
		spans_free(&s);
		free(v);
		json_decref(head);
		return err_resource(
			e, "%s: no memory for the timeline; give a smaller --timeline-max", path);
	}
	end = s.end > view->s->at_ns ? s.end : view->s->at_ns;
	n = add_spans(v, &s);
	n += add_marks(v + n, view->timeline, end);
	qsort(v, n, sizeof(*v), by_time);
	f = sink_open(path, e);
	if (f)
		print_all(f, head, view, v, n, end);
	rc = f ? sink_close(f, path, e) : -1;
	json_decref(head);
	free(v);
	spans_free(&s);
	return rc;
}
