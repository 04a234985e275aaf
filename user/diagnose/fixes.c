// SPDX-License-Identifier: GPL-2.0-only
#include "diagnose/fixes.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define ROOMY	  (8 << 20)
#define PIPE_ROOM (1 << 20)
#define CC_LIST	  "/proc/sys/net/ipv4/tcp_available_congestion_control"
#define CC_NOW	  "/proc/sys/net/ipv4/tcp_congestion_control"

static bool say(char *text, size_t len, const char *what)
{
	snprintf(text, len, "%s", what);
	return true;
}

static bool two_writes(const struct bench_plan *p)
{
	return p->pattern.kind != PATTERN_SINGLE;
}

static bool set_nodelay(const struct bench_plan *p, char *t, size_t n)
{
	return !p->o.nodelay && say(t, n, "nagle=0 nodelay=1");
}

static bool set_one_write(const struct bench_plan *p, char *t, size_t n)
{
	return two_writes(p) &&
	       say(t, n, p->o.nodelay ? "pattern=single more=0" : "pattern=single more=0 nagle=1");
}

static bool set_more(const struct bench_plan *p, char *t, size_t n)
{
	return two_writes(p) && !p->o.more && say(t, n, "more=1");
}

static bool set_quickack(const struct bench_plan *p, char *t, size_t n)
{
	return !p->o.quickack && say(t, n, "quickack=1");
}

/* The link's text with a key added, which replaces an earlier one of that name. */
static bool relink(const struct bench_plan *p, const char *key, const char *value, char *t,
		   size_t n)
{
	char copy[256], *rest = copy, *word, *at;
	size_t key_len = strlen(key);

	snprintf(copy, sizeof(copy), "%s", p->o.link ? p->o.link : "lo");
	at = t + snprintf(t, n, "link=%s", strsep(&rest, ","));
	while ((word = strsep(&rest, ",")))
		if (strncmp(word, key, key_len) || word[key_len] != '=')
			at += snprintf(at, (size_t)(t + n - at), ",%s", word);
	if (value)
		snprintf(at, (size_t)(t + n - at), ",%s=%s", key, value);
	return true;
}

static bool set_route_quickack(const struct bench_plan *p, char *t, size_t n)
{
	return !p->o.connect && p->link_spec.quickack != LINK_ON &&
	       relink(p, "quickack", "on", t, n);
}

static bool set_cwnd_free(const struct bench_plan *p, char *t, size_t n)
{
	return p->link_spec.cwnd && relink(p, "cwnd", NULL, t, n);
}

static bool set_long_queue(const struct bench_plan *p, char *t, size_t n)
{
	return p->link_spec.limit && relink(p, "limit", "8mb", t, n);
}

static bool set_uncork(const struct bench_plan *p, char *t, size_t n)
{
	return p->o.cork && say(t, n, "cork=0");
}

static bool set_sndbuf_free(const struct bench_plan *p, char *t, size_t n)
{
	return p->o.sndbuf && say(t, n, "sndbuf=0");
}

static bool set_sndbuf(const struct bench_plan *p, char *t, size_t n)
{
	snprintf(t, n, "sndbuf=%d", ROOMY);
	return p->o.sndbuf < ROOMY;
}

/* Whether datagrams are sent without a pause: no buffer is large enough for long, and a short run
 * that fits into one proves nothing. */
static bool floods(const struct bench_plan *p)
{
	return p->w->flags & WL_LOSSY && p->tests >> TEST_THROUGHPUT & 1 && p->o.ack == ACK_FINAL;
}

static bool set_rcvbuf_free(const struct bench_plan *p, char *t, size_t n)
{
	return p->o.rcvbuf && !floods(p) && !(p->w->flags & WL_LOSSY && p->o.reader_pause) &&
	       say(t, n, "rcvbuf=0");
}

static bool set_rcvbuf(const struct bench_plan *p, char *t, size_t n)
{
	snprintf(t, n, "rcvbuf=%d", ROOMY);
	return p->o.rcvbuf < ROOMY && !floods(p) && !(p->w->flags & WL_LOSSY && p->o.reader_pause);
}

static bool set_pipe(const struct bench_plan *p, char *t, size_t n)
{
	snprintf(t, n, "pipe-size=%d", PIPE_ROOM);
	return p->o.pipe_size < PIPE_ROOM;
}

static bool set_reader(const struct bench_plan *p, char *t, size_t n)
{
	return p->o.reader_pause && say(t, n, "reader-pause=0");
}

static bool set_pacing(const struct bench_plan *p, char *t, size_t n)
{
	return p->o.pacing && say(t, n, "pacing=0");
}

/* The other one of the two common congestion controls. */
static bool set_cc(const struct bench_plan *p, char *t, size_t n)
{
	char now[64], all[256];
	const char *other;

	if (p->o.cc)
		snprintf(now, sizeof(now), "%s", p->o.cc);
	else
		text_first_line(CC_NOW, now, sizeof(now));
	other = strcmp(now, "cubic") ? "cubic" : "bbr";
	snprintf(t, n, "cc=%s", other);
	return text_first_line(CC_LIST, all, sizeof(all)) && text_has_word(all, other);
}

static bool set_mmsg(const struct bench_plan *p, char *t, size_t n)
{
	return p->o.engine == ENGINE_PLAIN && p->tests == 1u << TEST_THROUGHPUT &&
	       p->o.ack == ACK_FINAL && !p->o.reader_pause && say(t, n, "engine=mmsg");
}

#define C(cause) (1u << (cause))
#define B(who)	 (1u << (who))
#define ANYONE	 0

static const struct fix fixes[] = {
	{ "nodelay", "set TCP_NODELAY on the sender's socket", C(TX_NAGLE), ANYONE, WL_TCP,
		set_nodelay },
	{ "one-write", "write each message with one call: a buffer of the whole, or writev()",
		C(TX_NAGLE), ANYONE, WL_TCP, set_one_write },
	{ "uncork", "clear TCP_CORK after the last piece of a message, or never set it", C(TX_CORK),
		ANYONE, WL_TCP, set_uncork },
	{ "reader", "make the reader read at once: move its other work to another "
		    "thread", C(TX_RWND) | C(TX_SNDBUF) |
	  C(TX_PACING) | C(TX_CWND) | C(DIAG_LOSS_RCVBUF), ANYONE, 0, set_reader },
	{ "no-pacing", "remove SO_MAX_PACING_RATE, or raise it", C(TX_PACING), ANYONE, WL_TCP,
		set_pacing },
	{ "sndbuf-auto", "do not set SO_SNDBUF: the kernel then sizes it by itself", C(TX_SNDBUF),
		ANYONE, WL_SOCKET, set_sndbuf_free },
	{ "rcvbuf-auto", "do not set SO_RCVBUF: the kernel then sizes it by itself", C(TX_RWND) |
		C(TX_PACING) | C(DIAG_LOSS_RCVBUF), ANYONE, WL_SOCKET,
	  set_rcvbuf_free },
	{ "pipe-size", "enlarge the pipe: fcntl(fd, F_SETPIPE_SZ, 1 << 20)", C(TX_SNDBUF),
		ANYONE, WL_PIPE, set_pipe },
	{ "cwnd-free", "remove the lock on cwnd from the route: ip route change ... "
		       "without 'cwnd lock'", C(TX_CWND), ANYONE, WL_TCP, set_cwnd_free },
	{ "queue", "lengthen the device's queue: tc qdisc change ... limit", C(TX_RECOVERY) |
		C(DIAG_LOSS_QDISC), ANYONE, WL_INET, set_long_queue },
	{ "quickack", "set TCP_QUICKACK at the reader before each read", C(TX_NAGLE) |
		C(TX_SNDBUF) | C(TX_CWND), B(BLAME_PEER_DELACK), WL_TCP, set_quickack },
	{ "route-quickack", "at the reader's host: ip route change ... quickack 1", C(TX_NAGLE) |
		C(TX_SNDBUF) | C(TX_CWND), B(BLAME_PEER_DELACK),
	  WL_TCP, set_route_quickack },
	{ "more", "MSG_MORE on every write of a message but its last", C(TX_NAGLE), ANYONE, WL_TCP,
		set_more },
	{ "sndbuf", "a send buffer of 8 MiB: SO_SNDBUF, net.core.wmem_max", C(TX_SNDBUF), ANYONE,
		WL_SOCKET, set_sndbuf },
	{ "rcvbuf", "a receive buffer of 8 MiB: SO_RCVBUF, net.core.rmem_max", C(TX_RWND) |
		C(DIAG_LOSS_RCVBUF), ANYONE, WL_SOCKET, set_rcvbuf },
	{ "cc", "another congestion control: TCP_CONGESTION", C(TX_PACING) | C(TX_CWND) |
		C(TX_RECOVERY), ANYONE, WL_TCP, set_cc },
	{ "mmsg", "many datagrams a call: sendmmsg(), recvmmsg()", C(DIAG_LOSS_RCVBUF), ANYONE,
		WL_DATAGRAM | WL_LOSSY, set_mmsg },
};

static bool fits(const struct fix *x, const struct bench_plan *plan, const struct diag_finding *f)
{
	if (!(x->causes & C(f->cause)) || (x->blamed && !(x->blamed & B(f->blamed))))
		return false;
	return !x->needs || (plan->w->flags & x->needs) == x->needs;
}

static bool there_already(const struct proposal *p, size_t n, const struct fix *x)
{
	for (size_t i = 0; i < n; i++)
		if (p[i].fix == x)
			return true;
	return false;
}

size_t fixes_propose(const struct bench_plan *plan, const struct diag_stalls *s,
		     struct proposal out[FIXES_TRIED])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < sizeof(fixes) / sizeof(fixes[0]) && n < FIXES_TRIED; k++) {
			if (!fits(&fixes[k], plan, &s->v[i]) || there_already(out, n, &fixes[k]))
				continue;
			if (!fixes[k].sets(plan, out[n].sets, sizeof(out[n].sets)))
				continue;
			out[n].fix = &fixes[k];
			out[n++].finding = i;
		}
	}
	return n;
}

int fix_apply(const char *sets, struct bench_options *o, struct err *e)
{
	char copy[FIX_SETS], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", sets);
	while ((word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');
		const struct opt *row;

		*value++ = '\0';
		row = opt_find(bench_option_rows, word);
		if (!row || opt_set(row, o, value, e))
			return -1;
	}
	return 0;
}
