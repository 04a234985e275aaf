// SPDX-License-Identifier: GPL-2.0-only
#include "recording/recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/json_text.h"
#include "base/array.h"
#include "base/text.h"
#include "recording/blocks.h"
#include "recording/codec.h"
#include "recording/relink.h"

/* Limits of what a recording may hold. A block of 64 KB may unpack to a thousand times as much
 * (zlib), so a foreign file can claim anything. TEXTS_BYTES: of all stacks and cgroups together. */
enum {
	TEXTS_MAX = 1 << 20,
	TEXT_MAX = 65536,
	TEXTS_BYTES = 64 << 20,
	HEADER_MAX = 1 << 20,
	CGROUPS_MAX = 1 << 16
};

/* a walk through the file */
struct walk {
	const struct recording_visitor *v;
	struct recording_state *st;
	struct endpoints closed, live; /* of the snapshot that is being put together */
	const char **texts;	       /* by number */
	size_t texts_room, texts_bytes, cgroups;
	struct trace_listeners listeners;
	size_t live_max;	    /* how many live endpoints there is memory for */
	struct trace_counters gone; /* of closed endpoints that were not kept, so far */
	bool live_short; /* a part of the snapshot that is being put together is damaged */
	bool no_memory;
};

static int foreign(const char *path, enum head_result h, uint32_t version, struct err *e)
{
	if (h == HEAD_OTHER_VERSION)
		return err_version(e,
				   "%s: a recording of version %u, but this program reads %d; use "
				   "the program that wrote it",
				   path, version, BLOCKS_VERSION);
	return err_data(
		e, "%s: not a recording of ipcstall; give a file written by ipcstall record", path);
}

int recording_open(struct recording *r, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	*r = (struct recording){ .path = path };
	if (fd < 0 || fstat(fd, &st)) {
		err_sys(e, EXIT_DATA, "give a file written by ipcstall record", "%s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return foreign(path, HEAD_FOREIGN, 0, e);
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return err_sys(e, EXIT_NO_RESOURCE, "free some memory", "%s", path);
	r->file = p;
	r->size = (size_t)st.st_size;
	return 0;
}

void recording_close(struct recording *r)
{
	if (r->file)
		munmap((void *)r->file, r->size);
	*r = (struct recording){};
}

static void keep_text(struct walk *w, uint64_t number, const char *text)
{
	size_t room = w->texts_room ? w->texts_room : 256;
	const char **p;

	while (room <= number)
		room *= 2;
	if (room > w->texts_room) {
		p = array_resize(w->texts, room, 0, sizeof(*p));
		if (!p) {
			w->no_memory = true;
			return;
		}
		memset(p + w->texts_room, 0, (room - w->texts_room) * sizeof(*p));
		w->texts = p;
		w->texts_room = room;
	}
	w->texts[number] = w->v->texts ? stalls_text(w->v->texts, text) : NULL;
}

static bool read_texts(struct walk *w, struct codec *c)
{
	while (!c->bad && c->at < c->n) {
		uint64_t number, cgroup, n;
		char text[TEXT_MAX];

		codec_below(c, &number, TEXTS_MAX);
		codec_u64(c, &cgroup);
		codec_below(c, &n, TEXT_MAX);
		codec_bytes(c, text, n);
		text[n] = 0;
		if (c->bad)
			return false;
		w->texts_bytes += n;
		w->cgroups += cgroup != 0;
		if (w->texts_bytes > TEXTS_BYTES || w->cgroups > CGROUPS_MAX)
			return false; /* this block and the texts after it are left out, like
					 damaged ones */
		text_clean_lines(text, n + 1);
		if (cgroup)
			trace_cgroup_remember(cgroup, text);
		else
			keep_text(w, number, text);
	}
	return codec_done(c);
}

static bool read_stalls(struct walk *w, struct codec *c)
{
	uint64_t n;

	codec_below(c, &n, c->n + 1);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t texts[STACKS] = {};
		struct stall s = {};

		codec_stall(c, &s.s, texts);
		for (int k = 0; k < STACKS; k++)
			s.stack[k] =
				texts[k] && texts[k] < w->texts_room ? w->texts[texts[k]] : NULL;
		if (!c->bad && w->v->on_stall)
			w->v->on_stall(w->v->ctx, &s);
	}
	return codec_done(c);
}

static bool read_events(struct walk *w, struct codec *c)
{
	uint64_t n, base = 0;

	codec_below(c, &n, c->n + 1);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct trace_transition tr = {};

		codec_transition(c, &tr, &base);
		if (!c->bad && w->v->on_transition)
			w->v->on_transition(w->v->ctx, &tr);
	}
	return codec_done(c);
}

/* For half of the available memory. At the peak an endpoint of a snapshot is in three lists, two of
 * which have room to grow (realloc()). */
static size_t live_max(void)
{
	char kb[32];
	uint64_t bytes = text_field("/proc/meminfo", "MemAvailable", kb, sizeof(kb))
				 ? strtoull(kb, NULL, 10) << 10
				 : 1ull << 30;
	uint64_t n =
		bytes / 2 / (6 * (sizeof(struct trace_endpoint) + sizeof(struct trace_detail)));

	return n < 1024 ? 1024 : n;
}

static bool add_endpoint(struct walk *w, struct endpoints *into, const struct trace_endpoint *ep,
			 uint64_t peer)
{
	if (into == &w->closed && into->n >= CLOSED_KEPT &&
	    endpoints_drop(into, NULL, NULL, &w->gone))
		return false;
	if (into == &w->live && into->n >= w->live_max)
		return false;
	return endpoints_add(into, ep, peer);
}

static bool read_endpoints(struct walk *w, struct codec *c, const struct part *p,
			   struct endpoints *into)
{
	for (uint64_t i = 0; i < p->n && !c->bad && !w->no_memory; i++) {
		struct trace_detail detail = {};
		struct trace_endpoint ep = { .detail = &detail };
		uint64_t peer = 0;

		codec_endpoint(c, &ep, &peer);
		if (!memcmp(&detail, &trace_no_detail, sizeof(detail)))
			ep.detail = NULL;
		if (!c->bad && !add_endpoint(w, into, &ep, peer))
			w->no_memory = true;
	}
	w->st->lacks |= c->lacks;
	w->st->unknown_sections += c->unknown;
	return codec_done(c);
}

void counters_add_dropped(struct trace_counters *to, const struct trace_counters *c)
{
	to->dropped += c->dropped;
	to->dropped_tx_bytes += c->dropped_tx_bytes;
	to->dropped_rx_bytes += c->dropped_rx_bytes;
	to->dropped_stall_ns += c->dropped_stall_ns;
	to->dropped_lifetime_ns += c->dropped_lifetime_ns;
}

/* passes the closed and the live endpoints on as one snapshot */
static void deliver(struct walk *w, const struct part *p)
{
	struct trace_snapshot s = { .at_ns = p->at_ns, .counters = p->counters,
		.listeners = w->listeners };

	w->st->snapshots++;
	s.counters.events_lost += w->st->dropped.events;
	s.counters.lost += w->st->dropped.events + w->st->dropped.stalls;
	s.counters.dropped += w->st->dropped.closed;
	counters_add_dropped(&s.counters, &w->gone);
	if (endpoints_join(&w->closed, &w->live, &s))
		w->no_memory = true;
	else if (w->v->on_snapshot)
		w->v->on_snapshot(w->v->ctx, &s);
	trace_snapshot_free(&s);
	endpoints_clear(&w->closed);
	endpoints_clear(&w->live);
}

static bool read_closed(struct walk *w, struct codec *c)
{
	struct part p = {};

	codec_part(c, &p);
	return read_endpoints(w, c, &p, &w->closed);
}

static bool read_snapshot(struct walk *w, struct codec *c)
{
	struct part p = {};
	bool ok;

	codec_part(c, &p);
	ok = read_endpoints(w, c, &p, &w->live);
	if (!ok || !p.last)
		return ok;
	if (!w->live_short)
		deliver(w, &p);
	endpoints_clear(&w->live);
	w->live_short = false;
	return true;
}

static bool read_listeners(struct walk *w, struct codec *c)
{
	struct trace_listeners l = {};

	codec_listeners(c, &l);
	if (codec_done(c))
		w->listeners = l;
	return codec_done(c);
}

static bool read_header(struct walk *w, const struct block *b)
{
	if (b->n > HEADER_MAX)
		return false;
	json_decref(w->st->head);
	w->st->head = text_clean_json(json_loadb((const char *)b->content, b->n, 0, NULL));
	return json_is_object(w->st->head);
}

static bool read_dropped(struct walk *w, struct codec *c)
{
	struct dropped d = {};

	codec_dropped(c, &d);
	if (codec_done(c))
		w->st->dropped = d;
	return codec_done(c);
}

static bool read_block(struct walk *w, const struct block *b)
{
	struct codec c;

	codec_reader(&c, b->content, b->n);
	switch (b->type) {
	case BLOCK_HEADER: return read_header(w, b);
	case BLOCK_TEXTS: return read_texts(w, &c);
	case BLOCK_STALLS: return read_stalls(w, &c);
	case BLOCK_EVENTS: return read_events(w, &c);
	case BLOCK_CLOSED: return read_closed(w, &c);
	case BLOCK_SNAPSHOT: return read_snapshot(w, &c);
	case BLOCK_DROPPED: return read_dropped(w, &c);
	case BLOCK_LISTENERS: return read_listeners(w, &c);
	case BLOCK_END: w->st->complete = true; return true;
	default: w->st->unknown++; return true;
	}
}

/* A snapshot with a damaged part would lack endpoints. It is left out, up to its last part. */
static void note_damage(struct walk *w, const struct block *b)
{
	w->st->damaged++;
	w->live_short |= b->type == BLOCK_SNAPSHOT || !b->type;
}

/* No steps, stalls or closed endpoints come between the parts of a snapshot: the next snapshot
 * begins after them. */
static void begin_snapshot(struct walk *w, const struct block *b)
{
	if (b->type != BLOCK_EVENTS && b->type != BLOCK_STALLS && b->type != BLOCK_CLOSED)
		return;
	endpoints_clear(&w->live);
	w->live_short = false;
}

static void read_blocks(struct walk *w, struct block_reader *r)
{
	enum read_result result;
	struct block b;

	while (!w->no_memory && (result = blocks_next(r, &b)) != READ_END) {
		if (result == READ_NO_MEMORY)
			w->no_memory = true;
		else if (result == READ_DAMAGED || (result == READ_BLOCK && !read_block(w, &b)))
			note_damage(w, &b);
		else if (result == READ_BLOCK)
			begin_snapshot(w, &b);
		if (result != READ_CUT)
			continue;
		w->st->cut = true;
		w->st->cut_at = r->at;
		return;
	}
}

static int nothing_to_show(const char *path, const struct recording_state *st, struct err *e)
{
	if (st->damaged)
		return err_data(e,
				"%s: it is damaged and has no whole snapshot, so nothing can be "
				"shown; take another copy of it",
				path);
	return err_data(e,
			"%s: it is cut off before its first snapshot, so nothing can be shown; "
			"record for longer",
			path);
}

int recording_walk(const struct recording *r, const struct recording_visitor *v,
		   struct recording_state *st, struct err *e)
{
	struct walk w = { .v = v, .st = st, .live_max = live_max() };
	struct block_reader reader;
	uint32_t version;
	enum head_result h = blocks_open(&reader, r->file, r->size, &version);

	*st = (struct recording_state){};
	if (h != HEAD_GOOD)
		return foreign(r->path, h, version, e);
	read_blocks(&w, &reader);
	if (w.closed.n && st->snapshots) /* it broke off after closed endpoints */
		deliver(&w, &(struct part){});
	blocks_close(&reader);
	endpoints_free(&w.closed);
	endpoints_free(&w.live);
	free(w.texts);
	if (w.no_memory)
		return err_resource(
			e, "%s: no memory to replay it; free some, or filter (-p, -P, --comm)",
			r->path);
	return st->head && st->snapshots ? 0 : nothing_to_show(r->path, st, e);
}
