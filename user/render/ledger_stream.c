// SPDX-License-Identifier: GPL-2.0-only
#include "render/ledger_stream.h"

#include <errno.h>

#include "render/ledger_text.h"
#include "render/ledger_outputs.h"
#include "render/sink.h"

/* Takes over the reference. NULL, for lack of memory, ends the stream. */
static void put(struct ledger_stream *st, json_t *line)
{
	pthread_mutex_lock(&st->lock);
	if (!st->error && !line)
		st->error = ENOMEM;
	if (!st->error && (json_dumpf(line, st->f, JSON_COMPACT) || fputc('\n', st->f) == EOF))
		st->error = errno ? errno : EIO;
	pthread_mutex_unlock(&st->lock);
	json_decref(line);
}

static void flush(struct ledger_stream *st)
{
	pthread_mutex_lock(&st->lock);
	if (!st->error && fflush(st->f))
		st->error = errno;
	pthread_mutex_unlock(&st->lock);
}

int ledger_stream_open(struct ledger_stream *st, const char *path, json_t *head, struct err *e)
{
	json_t *line;

	*st = (struct ledger_stream){ .path = path, .lock = PTHREAD_MUTEX_INITIALIZER };
	st->f = sink_open_stream(path, e);
	if (!st->f)
		return -1;
	line = json_pack("{s:s, s:i}", "schema", "ipcstall.stream", "version", 1);
	json_object_update_missing(line, head);
	put(st, line);
	flush(st);
	return 0;
}

void ledger_stream_stall(struct ledger_stream *st, const struct stall *stall)
{
	json_t *line;

	if (!st->f)
		return;
	line = json_pack("{s:s}", "type", "stall");
	json_object_update_new(line, stall_to_json(stall));
	put(st, line);
}

static void put_endpoint(struct ledger_stream *st, const struct trace_snapshot *s,
			 const struct trace_endpoint *ep)
{
	json_t *line = json_pack("{s:s, s:I}", "type", "endpoint", "t", (json_int_t)ep->at_ns);

	json_object_update_new(line, endpoint_to_json(s, ep));
	json_object_del(line,
			"peer"); /* an index, and a line has no list: see peer_serial */
	put(st, line);
}

static json_t *interval(const struct trace_snapshot *s, const struct verdict *v)
{
	json_t *o = json_pack("{s:s, s:I, s:I}", "type", "interval", "t", (json_int_t)s->at_ns,
			      "endpoints", (json_int_t)s->n);

	if (!json_object_update_new(o, ledger_summary_to_json(s, v)))
		return o;
	json_decref(o);
	return NULL;
}

void ledger_stream_snapshot(struct ledger_stream *st, const struct trace_snapshot *s,
			    const struct verdict *v)
{
	if (!st->f)
		return;
	for (size_t i = 0; i < s->n && !st->error; i++)
		if (endpoint_did_anything(&s->ep[i]))
			put_endpoint(st, s, &s->ep[i]);
	put(st, interval(s, v));
	flush(st);
}

bool ledger_stream_works(const struct ledger_stream *st)
{
	return !st->error;
}

int ledger_stream_close(struct ledger_stream *st, bool complete, struct err *e)
{
	int rc = 0;

	if (!st->f)
		return 0;
	put(st, json_pack("{s:s, s:b}", "type", "end", "complete", complete));
	flush(st);
	if (st->error) {
		errno = st->error;
		rc = err_sys(e, EXIT_IO,
			     "its reader is gone or the disk is full; give another file", "%s",
			     st->f == stdout ? "standard output" : st->path);
	}
	if (st->f != stdout && fclose(st->f) && !rc)
		rc = err_sys(e, EXIT_IO, "free some space and run again", "%s", st->path);
	st->f = NULL;
	return rc;
}
