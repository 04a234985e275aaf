// SPDX-License-Identifier: GPL-2.0-only
/* Ledgers as a person reads them: names, durations, the sentence of a finding, the table. */
#include "sinks/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/text.h"
#include "model/blame.h"

#define CAUSE_FIX(sym, num, name, stall, nist, what, fix) [sym] = fix,
static const char *const tx_fixes[TX_N] = { TX_STATES(CAUSE_FIX) }, *const rx_fixes[RX_N] = { RX_STATES(CAUSE_FIX) };

const char *state_name(bool rx, unsigned int state)
{
	return state >= (rx ? (unsigned int)RX_N : (unsigned int)TX_N) ? "?" : rx ? trace_rx_names[state] : trace_tx_names[state];
}

void endpoint_name(const struct trace_endpoint *ep, char *buf, size_t len)
{
	char l[64], r[64];

	if (ep->family == AF_INET || ep->family == AF_INET6) {
		trace_addr_text(ep->family, &ep->local, l, sizeof(l));
		trace_addr_text(ep->family, &ep->remote, r, sizeof(r));
		snprintf(buf, len, "%s %s > %s", trace_proto_name(ep->proto), l, r);
	} else if (ep->inode) {
		snprintf(buf, len, "%s:[%" PRIu64 "]", trace_proto_name(ep->proto), ep->inode);
	} else {
		snprintf(buf, len, "%s #%" PRIu64, trace_proto_name(ep->proto), ep->serial);
	}
}

static void party_name(const struct party *p, char *buf, size_t len)
{
	if (p->tgid)
		snprintf(buf, len, "%.16s[%d]%s", p->comm, p->tgid, p->others ? " and others" : "");
	else if (p->others && *p->comm)
		snprintf(buf, len, "several %.16s", p->comm);
	else
		snprintf(buf, len, p->others ? "several processes" : "nobody seen");
}

void program_name(const struct trace_beside *b, char *buf, size_t len)
{
	struct party last = party_last(b);

	party_name(&last, buf, len);
}

/* Who comes back this soon, each time, is not elsewhere: what it reads takes it that long, or its buffer is small. */
#define OFTEN_NS 1000000
#define NEVER_AWAY_NS 50000000

static bool reads_often(const struct trace_beside *reader, const struct finding *f)
{
	return reader && trace_messages_known(reader) && f->blamed_ns < OFTEN_NS * reader->messages && f->max_ns < NEVER_AWAY_NS;
}

static void blame_phrase(const struct trace_snapshot *s, const struct finding *f, char *buf, size_t len)
{
	struct party late = {};
	bool seen = party_late(s, &s->ep[f->endpoint], f->cause, &late);
	char name[48] = "the peer";

	if (late.tgid || late.others)
		party_name(&late, name, sizeof(name));
	else if (seen && f->blamed == BLAME_PEER_READER)
		snprintf(name, sizeof(name), "%s", f->surety == SEEN_BOTH_ENDS ? "the peer, where nobody was seen in a read," : "its reader, which was not seen,");
	buf[0] = '\0';
	if (f->blamed == BLAME_PEER_DELACK)
		snprintf(buf, len, " <- delayed ACK of %s", name);
	else if (f->blamed == BLAME_PEER_READER && reads_often(party_reader(s, &s->ep[f->endpoint]), f))
		snprintf(buf, len, " <- %s %s often, and %s not keep up", name, late.others ? "read" : "reads", late.others ? "do" : "does");
	else if (f->blamed == BLAME_PEER_READER)
		snprintf(buf, len, " <- %s %s not reading", name, late.others ? "are" : "is");
	else if (f->blamed == BLAME_PEER_NO_CPU)
		snprintf(buf, len, " <- %s %s woken, and %s no CPU", name, late.others ? "were" : "was", late.others ? "have" : "has");
	else if (f->blamed == BLAME_NO_CPU)
		snprintf(buf, len, " <- it was woken, and had no CPU");
	else if (f->unanswered_syn)
		snprintf(buf, len, " <- no answer to its SYN");
	else if (f->blamed == BLAME_PATH)
		snprintf(buf, len, " <- loss on the path");
	else if (f->blamed == BLAME_OWN_WRITES)
		snprintf(buf, len, " <- its own next write: small ones are gathered");
}

static const char *surety_phrase(const struct finding *f)
{
	if (f->blamed == BLAME_NOBODY || f->blamed == BLAME_OWN_WRITES || f->blamed == BLAME_NO_CPU)
		return "";
	return f->surety == SEEN_BOTH_ENDS ? "; seen at both ends" : "; inferred from this end alone";
}

/* "known[12] of pipe:[34]: sndbuf <- known[13] is not reading" */
static void cause_phrase(const struct trace_snapshot *s, const struct finding *f, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	struct party held_up = party_held_up(ep, f->cause);
	char name[160], sender[48], blame[96];

	endpoint_name(ep, name, sizeof(name));
	party_name(&held_up, sender, sizeof(sender));
	blame_phrase(s, f, blame, sizeof(blame));
	snprintf(buf, len, "%s of %s: %s%s", sender, name, trace_tx_names[f->cause], blame);
}

/* where the blame explains some of the episodes, and not nearly all of them */
static void blamed_part(const struct finding *f, char *buf, size_t len)
{
	char part[32];

	buf[0] = '\0';
	if (!f->blamed_n || (f->blamed_n * 10 >= f->count * 9 && f->blamed_ns * 10 >= f->ns * 9))
		return;
	human_ns((double)f->blamed_ns, part, sizeof(part));
	snprintf(buf, len, ", of which %" PRIu64 " time%s, %s, for that reason", f->blamed_n, plural(f->blamed_n), part);
}

void finding_sentence(const struct trace_snapshot *s, const struct finding *f, char *buf, size_t len)
{
	char cause[320], total[32], longest[32], part[96];

	cause_phrase(s, f, cause, sizeof(cause));
	blamed_part(f, part, sizeof(part));
	human_ns((double)f->ns, total, sizeof(total));
	human_ns((double)f->max_ns, longest, sizeof(longest));
	snprintf(buf, len, "%s: %" PRIu64 " time%s, %s in all (%.1f %% of its time), longest %s%s%s", cause, f->count, plural(f->count), total,
		 100 * f->share, longest, part, surety_phrase(f));
}

/* Where the chain of waits that it begins ends: whose stall, the cause, who kept it waiting. Empty: it begins none. */
static void root_sentence(const struct trace_snapshot *s, const struct verdict *v, const struct finding *f, char *buf, size_t len)
{
	buf[0] = '\0';
	if (f->root >= 0)
		cause_phrase(s, &v->v[f->root], buf, len);
}

/* whether the reader was late, or its window small, shows at its end alone */
static bool reads_told(const struct trace_snapshot *s, const struct finding *f)
{
	return f->surety == SEEN_BOTH_ENDS && (f->peer < 0 || s->ep[f->peer].rx.resolution[RX_UNREAD] != TRACE_UNKNOWN);
}

const char *finding_fix(const struct trace_snapshot *s, const struct finding *f)
{
	if (f->ring >= 0)
		return "let one of the two read whatever comes while it waits: poll() for both, or a thread for each direction (of a subprocess's output, "
		       "communicate())";
	if (f->cause == TX_SNDBUF && f->blamed == BLAME_PEER_DELACK)
		return "raise SO_SNDBUF here, or set TCP_QUICKACK at the peer: the buffer empties only when the peer's delayed ACK comes";
	if (f->blamed == BLAME_NO_CPU || f->blamed == BLAME_PEER_NO_CPU)
		return starved_fix();
	if (f->unanswered_syn)
		return "make the listener take more (accept() sooner, a larger backlog in listen(), net.core.somaxconn), or find what drops the SYN: a "
		       "firewall, loss on the path, a host that is down";
	if (f->blamed == BLAME_OWN_WRITES)
		return "none for throughput, which gains by it: write more at once; TCP_NODELAY only where each message must leave at once";
	if (f->blamed == BLAME_PEER_READER && (f->cause == TX_PACING || f->cause == TX_CWND))
		return "make the peer read sooner: while data lies unread there, sending faster gains nothing";
	if (f->cause == TX_RWND && f->blamed == BLAME_NOBODY && !reads_told(s, f))
		return "if the reader reads all the time, raise its SO_RCVBUF or tcp_rmem: the window is too small for the path; if not, make it read "
		       "sooner: its end tells which";
	if (f->cause == TX_RWND && f->blamed == BLAME_NOBODY)
		return "raise the reader's SO_RCVBUF or tcp_rmem: the window is too small for the path, not the reader too late";
	if (f->cause == TX_SNDBUF && s->ep[f->endpoint].proto == TRACE_PIPE)
		return "read sooner or in larger pieces, or give the pipe room with F_SETPIPE_SZ";
	if (f->cause == TX_SNDBUF && s->ep[f->endpoint].proto == TRACE_UNIX_DGRAM)
		return "read sooner, or let more wait at the reader: net.unix.max_dgram_qlen counts the messages, whatever SO_SNDBUF here";
	if (f->cause == TX_SNDBUF && s->ep[f->endpoint].family == AF_UNIX)
		return "read sooner or in larger pieces, or raise SO_SNDBUF here";
	return tx_fixes[f->cause];
}

/* "curl[12] of tcp A > B was woken 30 times and then waited for a CPU: 2.7 s in all..." */
void starved_sentence(const struct trace_snapshot *s, const struct reader_spell *starved, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[starved->endpoint];
	char name[160], who[48], total[32], longest[32];

	endpoint_name(ep, name, sizeof(name));
	program_name(blame_starved(&ep->rxb) > blame_starved(&ep->txb) ? &ep->rxb : &ep->txb, who, sizeof(who));
	human_ns((double)starved->ns, total, sizeof(total));
	human_ns((double)starved->max_ns, longest, sizeof(longest));
	snprintf(buf, len, "%s of %s was woken %" PRIu64 " time%s and then waited for a CPU: %s in all (%.1f %% of its time), longest %s", who, name,
		 starved->count, plural(starved->count), total, 100 * starved->share, longest);
}

const char *starved_fix(void)
{
	return "give it a CPU: see what else runs on those that it may use (taskset, cpusets, CPU limits of its cgroup), or raise its priority";
}

/* "curl[12] of tcp A > B: unread: 12 times, 3.2 s in all..." */
static void late_sentence(const struct trace_snapshot *s, const struct reader_spell *late, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[late->endpoint];
	char name[160], reader[48], total[32], longest[32];

	endpoint_name(ep, name, sizeof(name));
	program_name(&ep->rxb, reader, sizeof(reader));
	human_ns((double)late->ns, total, sizeof(total));
	human_ns((double)late->max_ns, longest, sizeof(longest));
	snprintf(buf, len, "%s of %s leaves unread what has come: %" PRIu64 " time%s, %s in all (%.1f %% of its time), longest %s; "
		 "%s", reader, name, late->count, plural(late->count), total, 100 * late->share, longest,
		 other_end_seen(ep) ? "the sender may wait for an answer" : "the sender was not seen, and may wait for it");
}

/* Who should have sent, if need be by what it read. A server's UDP socket is nobody's other end, even where it was seen. */
static void awaited_name(const struct trace_snapshot *s, const struct trace_endpoint *ep, char *buf, size_t len)
{
	const struct trace_endpoint *other = ep->proto == TRACE_PIPE ? ep : ep->peer >= 0 ? &s->ep[ep->peer] : NULL;

	if (other && other->txb.tgid)
		program_name(&other->txb, buf, len);
	else if (other && other != ep && other->rxb.tgid)
		program_name(&other->rxb, buf, len);
	else
		snprintf(buf, len, "the other end%s", other_end_seen(ep) || ep->proto == TRACE_UDP ? "" : ", which was not seen,");
}

/* "; curl[12] of tcp A > B waited 4.9 s (98.0 % of its time) for nginx[7] to send" */
static void append_wait(const struct trace_snapshot *s, const struct reader_spell *wait, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[wait->endpoint];
	char name[160], reader[48], other[48], total[32];

	endpoint_name(ep, name, sizeof(name));
	program_name(&ep->rxb, reader, sizeof(reader));
	awaited_name(s, ep, other, sizeof(other));
	human_ns((double)wait->ns, total, sizeof(total));
	text_append(buf, len, "; %s of %s waited %s (%.1f %% of its time) for %s to send", reader, name, total, 100 * wait->share, other);
}

/* Of the two that tell of a sender that was not seen, the longer. */
static bool withheld_leads(const struct verdict *v)
{
	return !v->n && v->withheld.endpoint >= 0 && (v->late.endpoint < 0 || v->withheld.ns >= v->late.ns);
}

static bool late_leads(const struct verdict *v)
{
	return v->late.endpoint >= 0 && !withheld_leads(v);
}

/* Only what no end of a conversation did, or left undone, is put down to the machine. */
static bool starved_leads(const struct verdict *v)
{
	return !v->n && v->starved.endpoint >= 0 && !withheld_leads(v) && !late_leads(v);
}

/* Nothing held a sender; but that is no health where more than a stray datagram was lost. */
static bool loss_leads(const struct verdict *v)
{
	return !v->n && v->late.endpoint < 0 && v->withheld.endpoint < 0 && v->starved.endpoint < 0 && v->loss.endpoint >= 0 && !v->loss.stray;
}

/* what helps against it helps against more than half of them */
static bool has_main_cause(const struct scattered *sum)
{
	return sum->cause_ns * 2 > sum->ns;
}

/* "no single stall stands out, but together they are 8.00 s, 80.00 % of the senders' time, most of it sndbuf (95.0 %)" */
static void scattered_sentence(const struct scattered *sum, char *buf, size_t len)
{
	char total[32];

	human_ns((double)sum->ns, total, sizeof(total));
	snprintf(buf, len, "no single stall stands out, but together they are %s, %.2f %% of the senders' time", total, 100 * sum->share);
	if (sum->cause_ns)
		text_append(buf, len, ", %s of it %s (%.1f %%)", has_main_cause(sum) ? "most" : "the largest part that is known",
			    trace_tx_names[sum->cause], 100.0 * (double)sum->cause_ns / (double)sum->ns);
}

/* no finding, no late reader, no loss worth the word */
static void healthy_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	char total[32];

	human_ns((double)v->stall_ns, total, sizeof(total));
	if (v->lifetime_ns)
		snprintf(buf, len, "healthy: stalls add up to %s, %.2f %% of the senders' time", total,
			 100.0 * (double)v->stall_ns / (double)v->lifetime_ns);
	else if (v->sent)
		snprintf(buf, len, "healthy: stalls add up to %s", total);
	else if (v->n_unknown)
		snprintf(buf, len, "what held the senders is not known: no hook saw their calls");
	else
		snprintf(buf, len, "nothing was sent through an endpoint that was seen");
}

/* "; each waits for the other, a deadlock: sh[3] waits for cat[4] to write to pipe:[12]" */
static void append_ring(const struct trace_snapshot *s, const struct finding *f, char *buf, size_t len)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	struct party held_up = party_held_up(ep, f->cause), late = {};
	char name[160], late_name[48], held_name[48];

	party_late(s, ep, f->cause, &late);
	party_name(&late, late_name, sizeof(late_name));
	party_name(&held_up, held_name, sizeof(held_name));
	endpoint_name(&s->ep[f->ring], name, sizeof(name));
	text_append(buf, len, "; each waits for the other, a deadlock: %s waits for %s to %s %s", late_name, held_name, f->ring_reads ? "write to" : "read", name);
}

static void finding_and_root(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	char root[320];

	finding_sentence(s, &v->v[0], buf, len);
	if (v->v[0].ring >= 0)
		append_ring(s, &v->v[0], buf, len);
	root_sentence(s, v, &v->v[0], root, sizeof(root));
	if (*root)
		text_append(buf, len, "; at the root of it%s: %s", v->v[0].root_by_amounts ? ", by the amounts that are passed on" : "", root);
}

static void leading_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	if (v->n)
		finding_and_root(s, v, buf, len);
	else if (late_leads(v))
		late_sentence(s, &v->late, buf, len);
	else if (withheld_leads(v))
		withheld_sentence(s, &v->withheld, buf, len);
	else if (starved_leads(v))
		starved_sentence(s, &v->starved, buf, len);
	else if (loss_leads(v))
		loss_sentence(s, &v->loss, buf, len);
	else if (v->scattered.ns)
		scattered_sentence(&v->scattered, buf, len);
	else
		healthy_sentence(s, v, buf, len);
}

/* beside what stalled, or where nothing at all stands out */
static bool tells_wait(const struct verdict *v)
{
	return v->wait.endpoint >= 0 && (v->n || (!late_leads(v) && !withheld_leads(v) && !starved_leads(v) && !loss_leads(v)));
}

void verdict_sentence(const struct trace_snapshot *s, const struct verdict *v, char *buf, size_t len)
{
	leading_sentence(s, v, buf, len);
	if (tells_wait(v))
		append_wait(s, &v->wait, buf, len);
	if (!v->n && !late_leads(v) && v->n_unknown && v->sent)
		text_append(buf, len, "; what held %zu other%s is not known", v->n_unknown, plural(v->n_unknown));
}

/* for what the sentence says; empty: there is nothing to mend */
static const char *verdict_fix(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->n)
		return finding_fix(s, &v->v[v->v[0].root >= 0 ? v->v[0].root : 0]);
	if (late_leads(v))
		return rx_fixes[RX_UNREAD];
	if (withheld_leads(v))
		return withheld_fix();
	if (starved_leads(v))
		return starved_fix();
	if (loss_leads(v))
		return loss_fix(&v->loss);
	return has_main_cause(&v->scattered) ? tx_fixes[v->scattered.cause] : "";
}

static void figure(uint64_t v, uint8_t res, char *buf, size_t len)
{
	if (res == TRACE_UNKNOWN)
		snprintf(buf, len, "-");
	else if (!v)
		snprintf(buf, len, "0");
	else
		human_ns((double)v, buf, len);
}

static void state_row(const struct trace_ledger *l, unsigned int i, const char *name, bool stall, FILE *out)
{
	uint8_t res = l->resolution[i] == TRACE_UNKNOWN && l->ns[i] ? TRACE_BOUNDED : l->resolution[i];
	char total[32], longest[32];

	figure(l->ns[i], res, total, sizeof(total));
	figure(l->max[i], res, longest, sizeof(longest));
	fprintf(out, "      %-9s%s %10s  %5.1f %%  %8u x  longest %10s%s\n", name, stall ? "*" : " ", total,
		l->lifetime_ns ? 100.0 * (double)l->ns[i] / (double)l->lifetime_ns : 0.0, l->count[i], longest,
		res == TRACE_BOUNDED ? "  (bounded)" : "");
}

static void one_side(const struct trace_ledger *l, const char *title, const char *const *names, unsigned int n, uint32_t stalls,
		     FILE *out)
{
	char life[32];

	human_ns((double)l->lifetime_ns, life, sizeof(life));
	fprintf(out, "    %s  lifetime %s, unaccounted: %" PRId64 " ns\n", title, life, l->unaccounted_ns);
	for (unsigned int i = n; i-- > 0;)
		if (l->ns[i] || l->count[i])
			state_row(l, i, names[i], stalls >> i & 1, out);
}

static void tcp_beside(const struct trace_endpoint *ep, FILE *out)
{
	char delack[32];

	if (ep->proto != TRACE_TCP)
		return;
	figure(ep->delack_ns, ep->delack_res, delack, sizeof(delack));
	fprintf(out, ", ACKs withheld %s (timer fired %" PRIu64 " x", delack, ep->delack_fires);
	if (ep->answers.n)
		fprintf(out, ", of which %" PRIu64 " were waited for", ep->answers.n);
	fputc(')', out);
	if (ep->retransmits_res != TRACE_UNKNOWN)
		fprintf(out, ", %" PRIu64 " retransmits", ep->retransmits);
}

static void beside_row(const struct trace_endpoint *ep, FILE *out)
{
	const uint64_t *d = ep->drops;
	char blocked[32], runq[32];

	figure(trace_blocked_ns(&ep->txb), ep->txb.blocked_res, blocked, sizeof(blocked));
	figure(ep->txb.runq_ns + ep->rxb.runq_ns, ep->txb.runq_res, runq, sizeof(runq));
	fprintf(out, "    beside  writer blocked %s, woken but waiting for a CPU %s", blocked, runq);
	tcp_beside(ep, out);
	if (ep->drops_res != TRACE_UNKNOWN && d[0] + d[1] + d[2] + d[3])
		fprintf(out, ", dropped: %" PRIu64 " receive buffer, %" PRIu64 " qdisc, %" PRIu64 " checksum, %" PRIu64 " other",
			d[TRACE_DROP_RCVBUF], d[TRACE_DROP_QDISC], d[TRACE_DROP_CHECKSUM], d[TRACE_DROP_OTHER]);
	fputc('\n', out);
}

/* where it lives, as far as that tells endpoints apart: its cgroup, and its network namespace where there are several */
static void place(const struct trace_snapshot *s, const struct trace_endpoint *ep, FILE *out)
{
	const struct trace_beside *b = ep->txb.tgid ? &ep->txb : &ep->rxb;
	char path[512];

	if (trace_cgroup_path(b->cgroup_id, path, sizeof(path)) && strcmp(path, "/"))
		fprintf(out, "   cgroup %s", path);
	for (size_t i = 0; i < s->n; i++) {
		if (!ep->netns || !s->ep[i].netns || s->ep[i].netns == ep->netns)
			continue;
		fprintf(out, "   netns %u", ep->netns);
		break;
	}
}

static void one_endpoint(const struct trace_snapshot *s, const struct trace_endpoint *ep, FILE *out)
{
	char name[160], w[48], r[48];

	endpoint_name(ep, name, sizeof(name));
	program_name(&ep->txb, w, sizeof(w));
	program_name(&ep->rxb, r, sizeof(r));
	fprintf(out, "  %s   writer %s, reader %s%s", name, w, r, ep->joined_late ? "   (first seen in mid-life: its past is unknown)" : "");
	place(s, ep, out);
	fputc('\n', out);
	one_side(&ep->tx, "tx", trace_tx_names, TX_N, TX_STALLS, out);
	one_side(&ep->rx, "rx", trace_rx_names, RX_N, 0, out);
	beside_row(ep, out);
}

static void endpoint_blocks(const struct trace_snapshot *s, size_t max, FILE *out)
{
	size_t n, *order = endpoints_by_stall(s, &n), shown;

	shown = max && n > max ? max : n;
	for (size_t i = 0; i < shown; i++)
		one_endpoint(s, &s->ep[order[i]], out);
	if (n > shown)
		fprintf(out, "  ... and %zu endpoints that stalled less\n", n - shown);
	free(order);
}

static void counters_line(const struct trace_counters *c, FILE *out)
{
	const struct trace_existing *x = &c->existing;

	if (x->made || x->asleep)
		fprintf(out, "  existed before: %" PRIu64 " sockets and pipes, %" PRIu64 " threads asleep in a call\n", x->made, x->asleep);
	if (x->unreadable)
		fprintf(out, "  the descriptors of %" PRIu64 " processes could not be listed: theirs show at their first event\n",
			x->unreadable);
	fprintf(out, "  observed %" PRIu64 ", lost %" PRIu64 ", unpaired %" PRIu64 ", overflow %" PRIu64 ", missed %" PRIu64, c->observed,
		c->lost, c->unpaired, c->overflow, c->missed);
	if (c->blind)
		fprintf(out, ", blind %" PRIu64, c->blind);
	if (c->stacks_lost)
		fprintf(out, ", stacks lost %" PRIu64, c->stacks_lost);
	fputc('\n', out);
	if (c->dropped)
		fprintf(out, "  %" PRIu64 " closed endpoints that stalled least were not kept\n", c->dropped);
}

enum { MORE_FINDINGS = 4 };

static void also(FILE *out, const char *text)
{
	fprintf(out, "   also: %s\n", text);
}

/* what is true too, and does not lead */
static void also_lines(const struct trace_snapshot *s, const struct verdict *v, FILE *out)
{
	char text[VERDICT_TEXT];

	for (size_t i = 1; i < v->n && i < MORE_FINDINGS; i++) {
		finding_sentence(s, &v->v[i], text, sizeof(text));
		also(out, text);
	}
	if (v->withheld.endpoint >= 0 && !withheld_leads(v)) {
		withheld_sentence(s, &v->withheld, text, sizeof(text));
		also(out, text);
	}
	if (v->late.endpoint >= 0 && withheld_leads(v)) {
		late_sentence(s, &v->late, text, sizeof(text));
		also(out, text);
	}
	if (v->starved.endpoint >= 0 && !starved_leads(v)) {
		starved_sentence(s, &v->starved, text, sizeof(text));
		also(out, text);
	}
	if (v->loss.endpoint >= 0 && !loss_leads(v)) {
		loss_sentence(s, &v->loss, text, sizeof(text));
		also(out, text);
	}
	if (v->scattered.ns && (v->late.endpoint >= 0 || withheld_leads(v) || starved_leads(v) || loss_leads(v))) {
		scattered_sentence(&v->scattered, text, sizeof(text));
		also(out, text);
	}
}

void ledger_table(const struct trace_snapshot *s, const struct verdict *v, size_t max, FILE *out)
{
	char text[VERDICT_TEXT];
	const char *fix;

	endpoint_blocks(s, max, out);
	counters_line(&s->counters, out);
	verdict_sentence(s, v, text, sizeof(text));
	fprintf(out, "verdict: %s\n", text);
	also_lines(s, v, out);
	fix = verdict_fix(s, v);
	if (*fix)
		fprintf(out, "    fix: %s\n", fix);
}
