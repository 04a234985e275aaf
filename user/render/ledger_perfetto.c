// SPDX-License-Identifier: GPL-2.0-only
/* Trace events for Chrome's and Perfetto's viewers: a process for each endpoint, a track for each
 * ledger. */
#include <inttypes.h>

#include "render/names.h"
#include "render/ledger_text.h"
#include "render/ledger_outputs.h"
#include "render/sink.h"

enum track { TRACK_TX = 1, TRACK_RX, TRACK_EVENTS };

/* microseconds, to the nanosecond: a double would round instants that are weeks old */
#define US	  "%" PRIu64 ".%03u"
#define US_OF(ns) (ns) / 1000, (unsigned int)((ns) % 1000)

static void name_track(FILE *f, uint64_t serial, int track, const char *name)
{
	fprintf(f,
		",\n{\"ph\":\"M\",\"pid\":%" PRIu64
		",\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
		serial, track, name);
}

static void name_endpoint(FILE *f, const struct trace_endpoint *ep)
{
	char label[256];
	json_t *text;

	endpoint_label(ep, label, sizeof(label));
	text = json_string(label);
	fprintf(f,
		",\n{\"ph\":\"M\",\"pid\":%" PRIu64
		",\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":",
		ep->serial);
	json_dumpf(text ? text : json_null(), f, JSON_ENCODE_ANY);
	fputs("}}", f);
	json_decref(text);
	name_track(f, ep->serial, TRACK_TX, "tx");
	name_track(f, ep->serial, TRACK_RX, "rx");
	name_track(f, ep->serial, TRACK_EVENTS, "events");
}

static void print_span(FILE *f, const struct span *s)
{
	const char *cat = !s->rx && tx_is_stall(s->state) ? "stall" : "state";

	fprintf(f,
		",\n{\"ph\":\"X\",\"pid\":%" PRIu64 ",\"tid\":%d,\"ts\":" US ",\"dur\":" US
		",\"name\":\"%s\",\"cat\":\"%s\"}",
		s->serial, s->rx ? TRACK_RX : TRACK_TX, US_OF(s->start), US_OF(s->end - s->start),
		state_name(s->rx, s->state), cat);
}

static void print_mark(FILE *f, const struct trace_transition *tr)
{
	const char *name = trace_mark_name(tr->mark);

	fprintf(f,
		",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":%" PRIu64 ",\"tid\":%d,\"ts\":" US
		",\"name\":\"%s\",\"args\":{\"bytes\":%" PRIu64 "}}",
		tr->serial, TRACK_EVENTS, US_OF(tr->at_ns), name ? name : "?", tr->bytes);
}

static void print_all(FILE *f, const struct ledger_view *view, const struct spans *s)
{
	fprintf(f,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"lost\":%" PRIu64
		",\"clock\":\"CLOCK_MONOTONIC\"},\"traceEvents\":[",
		view->s->counters.events_lost + view->timeline->dropped);
	fputs("\n{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":"
	      "\"ipcstall\"}}",
	      f);
	for (size_t i = 0; i < view->s->n && !ferror(f); i++)
		if (endpoint_did_anything(&view->s->ep[i]))
			name_endpoint(f, &view->s->ep[i]);
	for (size_t i = 0; i < s->n && !ferror(f); i++)
		print_span(f, &s->v[i]);
	for (size_t i = 0; i < view->timeline->n && !ferror(f); i++)
		if (timeline_at(view->timeline, i)->mark)
			print_mark(f, timeline_at(view->timeline, i));
	fputs("\n]}\n", f);
}

int ledger_perfetto_write(const struct ledger_view *view, const char *path, struct err *e)
{
	struct spans s;
	FILE *f;

	if (timeline_spans(view->timeline, view->s, &s))
		return err_resource(
			e, "%s: no memory for the timeline; give a smaller --timeline-max", path);
	f = sink_open(path, e);
	if (f)
		print_all(f, view, &s);
	spans_free(&s);
	return f ? sink_close(f, path, e) : -1;
}
