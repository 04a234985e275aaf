// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names the reader of a pipe if no sample found a thread asleep in a read, or if the reader is not
 * a process that the session follows. It is the holder of the read end, traced or not. If fork()
 * left copies of that end, the reader is the process that closed the write end, or else the one
 * that is not the writer. Processes that only wait for a child do not count, unless nobody else but
 * the writer is left: a parent may wait for the child that writes; or a shell's loop may read,
 * whose short-lived children inherit the pipe. If several remain, or the descriptors of some
 * process cannot be listed, none is named. The only holder of a write end is named too, if the
 * kernel half saw no writer, or took the reader for the writer.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/proc.h"
#include "tracer/internal.h"

#define WALK_SHARE    0.2	    /* share of the budget for walks of /proc */
#define WALK_EVERY_NS 1000000000ull /* shortest time between two walks */

struct process {
	pid_t pid;
	uint64_t began;
};

/* the processes that hold only the read end, only the write end, or both ends */
struct pipe_holders {
	uint64_t serial, inode;
	dev_t device; /* on which the inode was found; 0: a pipe without a name */
	struct process reads_only, both[2]; /* if there are more: one of them; two of them */
	unsigned int n_reads_only, n_both;
	struct process writes_only; /* the last one found */
	unsigned int n_writes_only;
	struct process waiting; /* the last one found that only waits for a child */
	unsigned int n_waiting;
	struct process asked; /* the process looked at now, and which ends it holds */
	bool reads, writes;
	unsigned int n_writers;
	pid_t a_writer; /* one of them: whoever holds the write end */
	bool unsure; /* there may be holders that were not found */
	bool may_be_loop, is_loop; /* `waiting` may read, and starts a child again and again */
};

struct walk {
	struct pipe_holders *v; /* by inode */
	size_t n;
	struct process asked;
};

ORDER_BY(by_inode, struct pipe_holders, inode)

ORDER_BY(by_serial, struct pipe_holders, serial)

/* without synchronizing with a remote file system, as proc_inode() does */
static struct pipe_holders fifo_at(int dir, long fd)
{
	char name[24];
	struct statx st;

	snprintf(name, sizeof(name), "%ld", fd);
	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_INO, &st))
		return (struct pipe_holders){};
	return (struct pipe_holders){ .inode = st.stx_ino,
				      .device = makedev(st.stx_dev_major, st.stx_dev_minor) };
}

static void count_holder(struct pipe_holders *h)
{
	if (h->writes) {
		h->n_writers++;
		h->a_writer = h->asked.pid;
	}
	if (h->reads && proc_waits_for_child(h->asked.pid)) {
		h->waiting = h->asked;
		h->n_waiting++;
	} else if (h->reads && h->writes) {
		if (h->n_both < 2)
			h->both[h->n_both] = h->asked;
		h->n_both++;
	} else if (h->reads) {
		h->reads_only = h->asked;
		h->n_reads_only++;
	} else if (h->writes && !proc_waits_for_child(h->asked.pid)) {
		h->writes_only = h->asked;
		h->n_writes_only++;
	}
	h->reads = h->writes = false;
}

static void note_fd(void *ctx, pid_t pid, int dir, long fd)
{
	struct walk *w = ctx;
	struct pipe_holders want = { .inode = proc_inode(dir, fd) }, *h;

	if (want.inode == SEED_FIFO)
		want = fifo_at(dir, fd);
	h = want.inode ? bsearch(&want, w->v, w->n, sizeof(want), by_inode) : NULL;
	if (!h)
		return;
	if (w->asked.pid != pid)
		w->asked = (struct process){ .pid = pid };
	if (h->asked.pid != pid)
		count_holder(h);
	if (!w->asked.began)
		w->asked.began = proc_began(w->asked.pid);
	h->unsure |= h->asked.pid && h->device != want.device; /* two pipes with one inode number */
	h->device = want.device;
	h->asked = w->asked;
	h->reads |= fd_open_for(dir, fd, S_IRUSR);
	h->writes |= fd_open_for(dir, fd, S_IWUSR);
}

/* The writer alone has both ends, and its parent waits until it ends. */
static bool is_parent_of_writer(const struct pipe_holders *h, pid_t writer)
{
	return h->n_both == 1 && h->both[0].pid == writer &&
	       process_parent(writer) == h->waiting.pid;
}

/* A shell's loop, `while read`: its child only inherits the pipe. A child that a shell started to
 * read from it is there as long as the shell, as a rule. */
static bool has_late_child(const struct pipe_holders *h)
{
	return h->n_reads_only == 1 && h->n_waiting == 1 && !h->n_both &&
	       process_parent(h->reads_only.pid) == h->waiting.pid &&
	       h->reads_only.began > h->waiting.began + (uint64_t)sysconf(_SC_CLK_TCK);
}

static bool is_gone(const struct process *p)
{
	return p->pid && (!p->began || proc_began(p->pid) != p->began);
}

/* A loop's child may have ended during the walk, after its descriptors were listed. */
static void forget_ended_reader(struct pipe_holders *h)
{
	if (h->n_reads_only != 1 || !is_gone(&h->reads_only))
		return;
	h->reads_only = (struct process){};
	h->n_reads_only = 0;
}

static void note_child(struct pipe_holders *h, const struct pipe_holders *before)
{
	h->may_be_loop = has_late_child(h);
	h->is_loop = h->may_be_loop && before && before->is_loop;
}

/* the only process that can be the reader; 0: none, or several */
static pid_t reader_of(const struct pipe_holders *h, pid_t writer)
{
	if (h->unsure)
		return 0;
	if (h->may_be_loop)
		return h->is_loop ? h->waiting.pid : 0;
	if (h->n_reads_only)
		return h->n_reads_only == 1 ? h->reads_only.pid : 0;
	if (h->n_both == 2 && h->both[0].pid == writer)
		return h->both[1].pid;
	if (h->n_both == 2 && h->both[1].pid == writer)
		return h->both[0].pid;
	if (h->n_waiting == 1 && (!h->n_both || is_parent_of_writer(h, writer)))
		return h->waiting.pid;
	return h->n_both == 1 ? h->both[0].pid : 0;
}

static bool holds_both(const struct pipe_holders *h, pid_t pid)
{
	return (h->n_both && h->both[0].pid == pid) || (h->n_both == 2 && h->both[1].pid == pid);
}

/* the only process that can be the writer, if `reader` is not; 0: none, or several */
static pid_t writer_of(const struct pipe_holders *h, pid_t reader)
{
	unsigned int both = h->n_both - (reader && holds_both(h, reader));

	if (h->unsure || both + h->n_writes_only != 1)
		return 0;
	if (h->n_writes_only)
		return h->writes_only.pid;
	return reader ? h->both[h->both[0].pid == reader].pid : 0;
}

/* The process named as the writer has a thread asleep in a read, and no thread of it was seen to
 * write: it only has a copy of the write end, which fork() left it. */
static bool is_reader_taken_for_writer(const struct trace_endpoint *ep)
{
	return ep->rx_calls.tid && !ep->tx_calls.tid && ep->tx_calls.tgid == ep->rx_calls.tgid;
}

static bool lacks_writer(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->inode && !ep->closed &&
	       (!ep->tx_calls.tgid || is_reader_taken_for_writer(ep));
}

static bool lacks_reader(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->inode && !ep->rx_calls.tid && !ep->closed;
}

static bool is_reader_answered(const struct pipe_holders *h)
{
	return h->n_reads_only || h->n_both || h->n_waiting || h->unsure;
}

/* Is it known who holds the pipe, or that this cannot be told? */
static bool is_answered(const struct pipe_holders *h)
{
	return is_reader_answered(h) || h->n_writes_only;
}

/* A shell that goes on after a late child runs a loop. */
static void note_end_of_child(struct pipe_holders *h)
{
	h->is_loop |= h->may_be_loop && is_gone(&h->reads_only) && !is_gone(&h->waiting);
}

/* If a holder is gone, all are forgotten until the next walk. The kernel half may name somebody. */
static void drop_outdated(struct pipe_holders *h)
{
	note_end_of_child(h);
	if (!h->unsure &&
	    ((!h->is_loop && is_gone(&h->reads_only)) || is_gone(&h->both[0]) ||
	     is_gone(&h->both[1]) || is_gone(&h->waiting) || is_gone(&h->writes_only)))
		*h = (struct pipe_holders){ .serial = h->serial, .inode = h->inode };
}

static struct pipe_holders *known(const struct trace *t, uint64_t serial)
{
	struct pipe_holders want = { .serial = serial };

	return t->holders.n ? bsearch(&want, t->holders.v, t->holders.n, sizeof(want), by_serial)
			    : NULL;
}

static void name_holder(const struct trace *t, struct trace_call_stats *b, pid_t holder)
{
	if (holder == b->tgid)
		return;
	b->tgid = holder;
	b->outsider = is_outsider(t, (uint32_t)holder);
	b->cgroup_id = 0;
	memset(b->comm, 0, sizeof(b->comm));
	if (holder)
		process_comm(holder, b->comm);
}

/* Names the only reader; nobody, if there are several, or if not all processes could be listed. */
static void name_reader(const struct trace *t, struct trace_endpoint *ep,
			const struct pipe_holders *h)
{
	struct trace_call_stats *b = &ep->rx_calls;
	pid_t reader = reader_of(h, ep->tx_calls.tid ? ep->tx_calls.tgid : 0);

	if (!is_reader_answered(h))
		return;
	b->others = !reader;
	if (ep->detail)
		memset(ep->detail->late, 0, sizeof(ep->detail->late));
	name_holder(t, b, reader);
}

/* The session does not follow the writer, so no hook saw its calls; samples would see it asleep. */
static bool is_writer_unseen(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = &ep->tx_calls;

	return b->outsider && !b->bytes && !b->messages &&
	       ep->tx.resolution[TX_SNDBUF] != TRACE_BY_SAMPLES;
}

static void name_writer(const struct trace *t, struct trace_endpoint *ep,
			const struct pipe_holders *h)
{
	pid_t writer = writer_of(h, ep->rx_calls.tid ? ep->rx_calls.tgid : 0);

	ep->making.no_writer = is_answered(h) && !h->n_writers && !h->unsure;
	ep->making.own_writer = h->n_writers == 1 && !h->unsure && ep->rx_calls.tgid == h->a_writer;
	if (!writer)
		return;
	ep->tx_calls.others = false;
	name_holder(t, &ep->tx_calls, writer);
	if (is_writer_unseen(ep))
		resolution_unseen(ep, true, false);
}

/* Lists the live pipes whose reader or writer is missing. *asks: a walk is needed for one of
 * them. */
static size_t list_lacking(const struct trace *t, const struct trace_snapshot *s,
			   struct pipe_holders *v, bool *asks)
{
	size_t n = 0;

	*asks = false;
	for (size_t i = 0; i < s->n; i++) {
		struct pipe_holders *h;

		if (!lacks_reader(&s->ep[i]) && !lacks_writer(&s->ep[i]))
			continue;
		h = known(t, s->ep[i].serial);
		if (h)
			drop_outdated(h);
		*asks |= !h || !is_answered(h);
		v[n++] = (struct pipe_holders){ .serial = s->ep[i].serial,
						.inode = s->ep[i].inode };
	}
	return n;
}

/* share of one CPU; the ledger has no budget of its own */
static double walk_budget(const struct trace *t)
{
	return t->opts.budget > 0 ? t->opts.budget : 0.005;
}

static void walk_proc(struct trace *t, struct pipe_holders *v, size_t n)
{
	struct walk w = { .v = v, .n = n };
	uint64_t before = thread_cpu_ns(), cost;
	bool all;

	qsort(v, n, sizeof(*v), by_inode);
	all = proc_descriptors(note_fd, &w);
	for (size_t i = 0; i < n; i++) {
		count_holder(&v[i]);
		v[i].unsure |= !all;
		forget_ended_reader(&v[i]);
		note_child(&v[i], known(t, v[i].serial));
	}
	qsort(v, n, sizeof(*v), by_serial);
	cost = thread_cpu_ns() - before;
	sampler_spent(t, cost);
	pipe_holders_free(t);
	t->holders.v = v;
	t->holders.n = n;
	t->holders.next_ns = snapshot_now() +
			     gap_for_share(WALK_EVERY_NS, cost, WALK_SHARE * walk_budget(t));
}

void pipe_holders_fill(struct trace *t, struct trace_snapshot *s)
{
	struct pipe_holders *v = t->numbered ? NULL : array_new(s->n, 1, sizeof(*v)), *h;
	bool asks = false;
	size_t n = v ? list_lacking(t, s, v, &asks) : 0;

	if (asks && snapshot_now() >= t->holders.next_ns)
		walk_proc(t, v, n);
	else
		free(v);
	for (size_t i = 0; i < s->n; i++) {
		h = known(t, s->ep[i].serial);
		if (h && lacks_reader(&s->ep[i]))
			name_reader(t, &s->ep[i], h);
		if (h && lacks_writer(&s->ep[i]))
			name_writer(t, &s->ep[i], h);
	}
}

void pipe_holders_free(struct trace *t)
{
	free(t->holders.v);
	t->holders.v = NULL;
	t->holders.n = 0;
}
