// SPDX-License-Identifier: GPL-2.0-only
#include "recording/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/index.h"
#include "base/atomic_file.h"
#include "base/output_path.h"
#include "recording/blocks.h"
#include "recording/codec.h"

enum {
	QUEUE_MAX = 2000000,	/* steps that wait to be written */
	STALLS_MAX = 200000,
	PER_BLOCK = 16384,	/* steps, stalls */
	PART = 512,		/* endpoints in a block of a snapshot */
};

struct queue {
	struct trace_transition *events;
	struct stall *stalls;
	size_t n_events, events_room, n_stalls, stalls_room;
};

struct recorder {
	int fd;
	char *path;
	char target[PATH_MAX]; /* the file behind `path`, which may be a link */
	/* An older recording of this name stays until the new one has a whole snapshot, because
	 * before that nothing of the new one could be replayed. From then on the new file has its
	 * final name and grows there, so that a crash leaves all but its last block. */
	struct atomic_file place;
	char *real; /* the present path of the file, which compaction replaces */
	uint64_t size, max;
	struct dropped dropped;
	pthread_mutex_t lock; /* of `in` and `refused` */
	struct queue in, out;
	struct dropped refused; /* by a full queue, not yet added to `dropped` */
	/* the numbers of the texts in the file; the caller keeps equal texts once, so that a text's
	 * address identifies it */
	struct index stacks, cgroups;
	uint32_t n_texts;
	int error;
	bool replayable; /* a whole snapshot is in the file */
};

static int report(struct recorder *r, int err, struct err *e)
{
	r->error = err;
	errno = err;
	return err_sys(
		e, EXIT_IO,
		r->replayable
			? "what was recorded so far can be replayed; free some space, or give "
			  "--max-size"
			: "there is no snapshot yet, so nothing is kept; free some space",
		"%s", r->path);
}

static int write_dropped(struct recorder *r)
{
	struct codec c;
	size_t n;
	int err;

	codec_writer(&c);
	codec_dropped(&c, &r->dropped);
	err = c.bad ? ENOMEM : blocks_write(r->fd, BLOCK_DROPPED, c.v, c.n, &n);
	codec_free(&c);
	r->size += err ? 0 : n;
	return err;
}

/* 256 bytes are kept for the last two blocks */
static bool fits(const struct recorder *r, size_t n)
{
	return r->size + BLOCK_HEAD + compressBound((uLong)n) + 256 <= r->max;
}

static int make_room(struct recorder *r, size_t n)
{
	for (int i = 0; i < 12 && !fits(r, n); i++) {
		int err = recording_compact(r->real, &r->fd, &r->size, &r->dropped);

		if (!err)
			err = write_dropped(r);
		if (err)
			return err;
	}
	return fits(r, n) ? 0 : EFBIG;
}

/* frees the codec */
static int write_block(struct recorder *r, enum block_type type, struct codec *c)
{
	size_t n = 0;
	int err = c->bad ? ENOMEM : make_room(r, c->n);

	if (!err)
		err = blocks_write(r->fd, type, c->v, c->n, &n);
	r->size += n;
	codec_free(c);
	return err;
}

static int write_header(struct recorder *r, json_t *head)
{
	char *text = json_dumps(head, JSON_COMPACT);
	size_t n = 0;
	int err = text ? blocks_write_head(r->fd) : ENOMEM;

	if (!err)
		err = blocks_write(r->fd, BLOCK_HEADER, text, strlen(text), &n);
	free(text);
	r->size = FILE_HEAD + n;
	return err;
}

struct recorder *recorder_new(const char *path, uint64_t max_size)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r || !(r->path = strdup(path))) {
		free(r);
		return NULL;
	}
	r->fd = r->place.fd = -1;
	r->max = max_size;
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

int recorder_begin(struct recorder *r, json_t *head, struct err *e)
{
	if (output_path(r->path, r->target, e))
		return -1;
	r->fd = atomic_file_open(&r->place, r->target, O_RDWR, 0600, true);
	r->real = r->fd < 0 ? NULL : realpath(r->place.part ? r->place.part : r->target, NULL);
	r->error = r->real ? write_header(r, head) : errno;
	if (!r->error)
		return 0;
	errno = r->error;
	return err_sys(e, EXIT_IO, "give a writable file, with free space for it", "%s", r->path);
}

/* Under its final name it may be another file (atomic_file_commit()), so it is opened again. */
static int take_place(struct recorder *r)
{
	int err;

	if (!r->place.part)
		return 0;
	err = atomic_file_commit(&r->place);
	if (err)
		return err;
	close(r->fd);
	free(r->real);
	r->real = realpath(r->target, NULL);
	r->fd = r->real ? open(r->real, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
	return r->fd < 0 || lseek(r->fd, 0, SEEK_END) < 0 ? errno : 0;
}

static bool reserve(void **v, size_t n, size_t *room, size_t max, size_t size)
{
	size_t more = *room ? 2 * *room : 1024;
	void *p;

	if (n < *room)
		return true;
	p = more <= 2 * max ? array_resize(*v, more, 0, size) : NULL;
	if (!p)
		return false;
	*v = p;
	*room = more;
	return true;
}

void recorder_transition(struct recorder *r, const struct trace_transition *tr)
{
	struct queue *q = &r->in;

	pthread_mutex_lock(&r->lock);
	if (q->n_events < QUEUE_MAX &&
	    reserve((void **)&q->events, q->n_events, &q->events_room, QUEUE_MAX, sizeof(*tr)))
		q->events[q->n_events++] = *tr;
	else
		r->refused.events++;
	pthread_mutex_unlock(&r->lock);
}

void recorder_stall(struct recorder *r, const struct stall *s)
{
	struct queue *q = &r->in;

	pthread_mutex_lock(&r->lock);
	if (q->n_stalls < STALLS_MAX &&
	    reserve((void **)&q->stalls, q->n_stalls, &q->stalls_room, STALLS_MAX, sizeof(*s)))
		q->stalls[q->n_stalls++] = *s;
	else
		r->refused.stalls++;
	pthread_mutex_unlock(&r->lock);
}

/* Swaps the queues: `out` is to be written, `in` to be filled. True: a full queue refused some. */
static bool take_queue(struct recorder *r)
{
	struct queue q = r->out;
	bool refused;

	q.n_events = q.n_stalls = 0;
	pthread_mutex_lock(&r->lock);
	r->out = r->in;
	r->in = q;
	refused = r->refused.events || r->refused.stalls;
	r->dropped.events += r->refused.events;
	r->dropped.stalls += r->refused.stalls;
	r->refused = (struct dropped){};
	pthread_mutex_unlock(&r->lock);
	return refused;
}

/* ---- texts ---- */

static void add_text(struct codec *c, uint64_t number, uint64_t cgroup, const char *text)
{
	uint64_t n = strlen(text);

	codec_u64(c, &number);
	codec_u64(c, &cgroup);
	codec_u64(c, &n);
	codec_bytes(c, (char *)text, n);
}

/* the next number; 0: no memory */
static uint32_t number_text(struct recorder *r, struct index *x, uint64_t key)
{
	return index_set(x, key, r->n_texts + 1) ? ++r->n_texts : 0;
}

/* The number of the text in the file. A new text is added to `c` first. */
static uint64_t text_number(struct recorder *r, struct codec *c, const char *text)
{
	uint32_t number;

	if (!text)
		return 0;
	number = index_find(&r->stacks, (uintptr_t)text);
	if (number)
		return number;
	number = number_text(r, &r->stacks, (uintptr_t)text);
	if (number)
		add_text(c, number, 0, text);
	return number;
}

static void note_cgroup(struct recorder *r, struct codec *c, uint64_t id)
{
	uint32_t number;
	char path[512];

	if (!id || index_find(&r->cgroups, id) || !trace_cgroup_path(id, path, sizeof(path)))
		return;
	number = number_text(r, &r->cgroups, id);
	if (number)
		add_text(c, number, id, path);
}

/* ---- what is queued ---- */

static int write_events(struct recorder *r, size_t from, size_t n)
{
	uint64_t base = 0, count = n;
	struct codec c;

	codec_writer(&c);
	codec_u64(&c, &count);
	for (size_t i = from; i < from + n; i++)
		codec_transition(&c, &r->out.events[i], &base);
	return write_block(r, BLOCK_EVENTS, &c);
}

/* new texts go before the stalls that name them */
static int write_stalls(struct recorder *r, size_t from, size_t n)
{
	struct codec texts, c;
	uint64_t count = n;
	int err;

	codec_writer(&texts);
	codec_writer(&c);
	codec_u64(&c, &count);
	for (size_t i = from; i < from + n; i++) {
		uint64_t numbers[STACKS];

		for (int k = 0; k < STACKS; k++)
			numbers[k] = text_number(r, &texts, r->out.stalls[i].stack[k]);
		codec_stall(&c, &r->out.stalls[i].s, numbers);
	}
	if (!texts.n)
		return write_block(r, BLOCK_STALLS, &c);
	err = write_block(r, BLOCK_TEXTS, &texts);
	if (!err)
		return write_block(r, BLOCK_STALLS, &c);
	codec_free(&c);
	return err;
}

static size_t at_most(size_t n, size_t max)
{
	return n < max ? n : max;
}

int recorder_flush(struct recorder *r, struct err *e)
{
	bool refused = take_queue(r);
	int err = 0;

	if (r->error)
		return -1;
	for (size_t i = 0; !err && i < r->out.n_events; i += PER_BLOCK)
		err = write_events(r, i, at_most(r->out.n_events - i, PER_BLOCK));
	for (size_t i = 0; !err && i < r->out.n_stalls; i += PER_BLOCK)
		err = write_stalls(r, i, at_most(r->out.n_stalls - i, PER_BLOCK));
	if (!err && refused)
		err = write_dropped(r);
	return err ? report(r, err, e) : 0;
}

/* ---- snapshots ---- */

static void add_endpoint(struct recorder *r, struct codec *c, struct codec *texts,
			 const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	struct trace_endpoint copy = *ep;
	uint64_t peer = ep->peer >= 0 ? s->ep[ep->peer].serial : 0;

	codec_endpoint(c, &copy, &peer);
	note_cgroup(r, texts, ep->tx_calls.cgroup_id);
	note_cgroup(r, texts, ep->rx_calls.cgroup_id);
}

/* Adds up to PART endpoints that are closed, or that are not, and moves *at on. Returns their
 * number, which is known only then. */
static size_t add_part(struct recorder *r, struct codec *c, struct codec *texts,
		       const struct trace_snapshot *s, bool closed, size_t *at)
{
	size_t n = 0;

	for (; *at < s->n && n < PART; (*at)++) {
		if (s->ep[*at].closed != closed)
			continue;
		add_endpoint(r, c, texts, s, &s->ep[*at]);
		n++;
	}
	return n;
}

static int write_part(struct recorder *r, const struct trace_snapshot *s, bool closed, size_t *at)
{
	struct part part = { .at_ns = s->at_ns, .counters = s->counters };
	struct codec texts, eps, c;
	int err = 0;

	codec_writer(&texts);
	codec_writer(&eps);
	codec_writer(&c);
	part.n = add_part(r, &eps, &texts, s, closed, at);
	part.last = *at == s->n;
	codec_part(&c, &part);
	codec_bytes(&c, eps.v, eps.n);
	c.bad |= eps.bad;
	codec_free(&eps);
	if (texts.n)
		err = write_block(r, BLOCK_TEXTS, &texts);
	if (!err && (part.n || !closed))
		return write_block(r, closed ? BLOCK_CLOSED : BLOCK_SNAPSHOT, &c);
	codec_free(&c);
	return err;
}

static int write_parts(struct recorder *r, const struct trace_snapshot *s, bool closed)
{
	size_t at = 0;
	int err;

	do
		err = write_part(r, s, closed, &at);
	while (!err && at < s->n);
	return err;
}

/* Fails if the file was deleted, or is shorter than what was written: the user has to know that
 * nothing of it can be replayed. */
static int check_file(struct recorder *r, struct err *e)
{
	struct stat st;
	const char *what;

	if (r->error || r->place.part || r->fd < 0 || fstat(r->fd, &st) || !S_ISREG(st.st_mode) ||
	    (st.st_nlink && (uint64_t)st.st_size >= r->size))
		return 0;
	what = st.st_nlink ? "cut short" : "deleted";
	r->error = EIO;
	return err_set(e, EXIT_IO,
		       "%s: the file was %s during the recording, so it is lost; leave the file "
		       "alone and record again",
		       r->path, what);
}

static int write_listeners(struct recorder *r, const struct trace_snapshot *s)
{
	struct trace_listeners l = s->listeners;
	struct codec c;

	if (!l.n)
		return 0;
	codec_writer(&c);
	codec_listeners(&c, &l);
	return write_block(r, BLOCK_LISTENERS, &c);
}

int recorder_snapshot(struct recorder *r, const struct trace_snapshot *s, struct err *e)
{
	int err;

	if (r->error || check_file(r, e) || recorder_flush(r, e))
		return -1;
	err = write_parts(r, s, true);
	if (!err)
		err = write_listeners(r, s);
	if (!err)
		err = write_parts(r, s, false);
	if (!err)
		err = take_place(r);
	r->replayable |= !err;
	return err ? report(r, err, e) : 0;
}

int recorder_close(struct recorder *r, struct err *e)
{
	size_t n;
	int rc = check_file(r, e), err;

	if (!r->error && r->fd >= 0 && r->replayable) {
		err = blocks_write(r->fd, BLOCK_END, "", 0, &n);
		rc = err ? report(r, err, e) : 0;
		r->size += n;
	}
	if (r->fd >= 0 && close(r->fd) && !rc && !r->error)
		rc = report(r, errno, e);
	atomic_file_drop(&r->place);
	pthread_mutex_destroy(&r->lock);
	free(r->in.events);
	free(r->in.stalls);
	free(r->out.events);
	free(r->out.stalls);
	index_free(&r->stacks);
	index_free(&r->cgroups);
	free(r->path);
	free(r->real);
	free(r);
	return rc;
}

uint64_t recorder_size(const struct recorder *r)
{
	return r->size;
}

const struct dropped *recorder_dropped(const struct recorder *r)
{
	return &r->dropped;
}
