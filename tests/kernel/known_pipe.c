// SPDX-License-Identifier: GPL-2.0-only
/* Pipes and FIFOs, and several threads on one pipe. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "known.h"

struct pipe_ends {
	int fd[2];
	const char *path; /* of a FIFO, which each side opens for itself */
	struct flow flow;
	struct end *reader;
};

static void pipe_reader(struct known *k, void *arg)
{
	struct pipe_ends *p = arg;
	int fd = p->path ? open(p->path, O_RDONLY) : p->fd[0];

	if (fd < 0)
		die("open of the FIFO");
	if (!p->path && !k->threads)
		close(p->fd[1]);
	end_here(p->reader, fd);
	flow_reader(k, p->reader, fd, &p->flow);
	close(fd);
	end_gone(p->reader);
}

static void pipe_run(struct known *k, struct pipe_ends *p)
{
	struct end *w = end_new(k, "writer", "pipe");
	int fd;

	p->reader = end_new(k, "reader", "pipe");
	if (!p->path && pipe(p->fd))
		die("pipe");
	other_side(k, pipe_reader, p);
	fd = p->path ? open(p->path, O_WRONLY) : p->fd[1];
	if (fd < 0)
		die("open of the FIFO");
	if (!p->path && !k->threads)
		close(p->fd[0]);
	end_here(w, fd);
	flow_writer(k, w, fd, &p->flow);
	close(fd);
	end_gone(w);
	join_other_side(k);
	flow_expect(k, &p->flow);
}

static void pipe_slow_reader(struct known *k)
{
	struct pipe_ends p = { .flow = flow_params(k, true, 20, 65536, 10) };

	pipe_run(k, &p);
}

static void pipe_slow_writer(struct known *k)
{
	struct pipe_ends p = { .flow = flow_params(k, false, 20, 4096, 10) };

	pipe_run(k, &p);
}

static void fifo_run(struct known *k, struct flow f)
{
	char dir[] = "/tmp/known.XXXXXX", path[64];
	struct pipe_ends p = { .flow = f, .path = path };

	if (!mkdtemp(dir))
		die("%s", dir);
	snprintf(path, sizeof(path), "%s/fifo", dir);
	if (mkfifo(path, 0600))
		die("%s", path);
	pipe_run(k, &p);
	unlink(path);
	rmdir(dir);
}

static void fifo_slow_reader(struct known *k)
{
	fifo_run(k, flow_params(k, true, 20, 65536, 10));
}

static void fifo_slow_writer(struct known *k)
{
	fifo_run(k, flow_params(k, false, 20, 4096, 10));
}

/* --- several writers and readers on one pipe -------------------------------------------------- */

#define THREADS 3

struct span {
	uint64_t from, to;
};

struct worker {
	int fd;
	long n, size, nap_ms;
	uint64_t bytes;
	struct span span[MAX_SPANS];
	int nr;
};

static void *write_spans(void *arg)
{
	struct worker *w = arg;
	char *buf = spare_memory(w->size);
	long i;

	for (i = 0; i < w->n; i++) {
		w->span[w->nr].from = now_ns();
		if (write(w->fd, buf, w->size) != w->size)
			die("writer thread");
		w->span[w->nr++].to = now_ns();
		w->bytes += w->size;
	}
	free(buf);
	return NULL;
}

static int span_order(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* The time in which at least one of the threads was in its call. */
static uint64_t span_union(struct worker *w, int workers)
{
	static struct span all[THREADS * MAX_SPANS];
	uint64_t total = 0, until = 0;
	int i, n = 0;

	for (i = 0; i < workers; i++) {
		memcpy(all + n, w[i].span, w[i].nr * sizeof(struct span));
		n += w[i].nr;
	}
	qsort(all, n, sizeof(all[0]), span_order);
	for (i = 0; i < n; i++) {
		uint64_t from = all[i].from > until ? all[i].from : until;

		if (all[i].to > from)
			total += all[i].to - from;
		until = all[i].to > until ? all[i].to : until;
	}
	return total;
}

static void threads_reader(struct known *k, void *arg)
{
	struct pipe_ends *p = arg;

	if (!k->threads)
		close(p->fd[1]);
	end_here(p->reader, p->fd[0]);
	flow_reader(k, p->reader, p->fd[0], &p->flow);
	close(p->fd[0]);
	end_gone(p->reader);
}

static void run_writers(struct worker *w)
{
	pthread_t thread[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, write_spans, &w[i]))
			die("thread");
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* Three threads fill one pipe; the one reader is slow: the ring is full for as long as any of them
 * sleeps. */
static void pipe_threads(struct known *k)
{
	static struct worker w[THREADS];
	struct pipe_ends p = { .flow = flow_params(k, true, 18, 65536, 10) };
	struct end *e = end_new(k, "writer", "pipe");
	uint64_t from;
	int i;

	p.reader = end_new(k, "reader", "pipe");
	if (p.flow.n % THREADS || p.flow.n / THREADS > MAX_SPANS)
		die("n: a multiple of %d below %d", THREADS, THREADS * MAX_SPANS);
	if (pipe(p.fd))
		die("pipe");
	other_side(k, threads_reader, &p);
	if (!k->threads)
		close(p.fd[0]);
	end_here(e, p.fd[1]);
	for (i = 0; i < THREADS; i++)
		w[i] = (struct worker){ .fd = p.fd[1],
					.n = p.flow.n / THREADS,
					.size = p.flow.size };
	meet(k);
	from = now_ns();
	run_writers(w);
	k->elapsed_ns = now_ns() - from;
	close(p.fd[1]);
	end_gone(e);
	join_other_side(k);
	for (i = 0; i < THREADS; i++)
		e->tx_bytes += w[i].bytes;
	e->tx_messages = p.flow.n;
	truth_ns(k, "in_write_ns", span_union(w, THREADS));
	expect_ns(k, "writer", "tx", "sndbuf", span_union(w, THREADS));
	expect_cause(k, "writer", "sndbuf");
	expect_ns(k, "reader", "rx", "unread", p.reader->napped_ns);
	expect_traffic(k, "writer");
	expect_traffic(k, "reader");
}

/* --- splice ----------------------------------------------------------------------------------- */

/* A file spliced into a pipe with a slow reader: the writer sleeps in splice(), not in write(). */
static void splice_writer(struct known *k, struct end *e, int pipe_fd, const struct flow *f)
{
	char name[] = "/tmp/known.XXXXXX", *buf = spare_memory(f->size);
	int file = mkstemp(name);
	uint64_t from;
	long i;

	if (file < 0 || write(file, buf, f->size) != f->size)
		die("%s", name);
	unlink(name);
	meet(k);
	from = now_ns();
	for (i = 0; i < f->n; i++) {
		loff_t at = 0;

		while (at < f->size) {
			uint64_t t = now_ns();
			ssize_t n = splice(file, &at, pipe_fd, NULL, f->size - at, 0);

			if (n <= 0)
				die("splice");
			t = now_ns() - t;
			e->in_write_ns += t;
			e->waits += t > WAITED_NS;
			e->tx_bytes += n;
		}
		e->tx_messages++;
	}
	k->elapsed_ns = now_ns() - from;
	free(buf);
	close(file);
}

static void pipe_splice(struct known *k)
{
	struct pipe_ends p = { .flow = flow_params(k, true, 20, 65536, 10) };
	struct end *w = end_new(k, "writer", "pipe");

	p.reader = end_new(k, "reader", "pipe");
	if (pipe(p.fd))
		die("pipe");
	other_side(k, pipe_reader, &p);
	if (!k->threads)
		close(p.fd[0]);
	end_here(w, p.fd[1]);
	splice_writer(k, w, p.fd[1], &p.flow);
	close(p.fd[1]);
	end_gone(w);
	join_other_side(k);
	expect_covers(k, "splice");
	truth_ns(k, "in_splice_ns", w->in_write_ns);
	expect_ns(k, "writer", "tx", "sndbuf", w->in_write_ns);
	expect_cause(k, "writer", "sndbuf");
	expect_traffic(k, "writer");
}

const struct known_case pipe_cases[] = {
	{ "pipe-slow-reader", pipe_slow_reader, "the writer of a pipe sleeps: n size nap_ms" },
	{ "pipe-slow-writer", pipe_slow_writer, "the reader of a pipe sleeps: n size nap_ms" },
	{ "fifo-slow-reader", fifo_slow_reader, "the same with a FIFO" },
	{ "fifo-slow-writer", fifo_slow_writer, "the same with a FIFO" },
	{ "pipe-threads", pipe_threads, "three threads write to one pipe, the reader is slow: n "
		"size nap_ms" },
	{ "pipe-splice", pipe_splice, "the writer sleeps in splice(): n size nap_ms" },
	{ NULL }
};
