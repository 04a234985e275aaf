/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The states of a ledger, one row each. The enum, the names, the help, the legend in JSON and
 * docs/CAUSES.md come from here.
 *
 * A number is never reused: it is the index in every saved file. A retired row keeps its number.
 *
 *	X(symbol, number, name, stall, nist, when it holds, what to do)
 *
 * nist: the row's stall point in section III of the NIST paper: 1 sleep for memory, 2 window full,
 * 3 partial packet, 0 none.
 */
#ifndef IPCSTALL_CAUSES_H
#define IPCSTALL_CAUSES_H

#define TX_STATES(X) \
	X(TX_IDLE, 0, "idle", 0, 0, \
	  "nothing to send and nothing unacknowledged: the application sends nothing", \
	  "nothing to fix here: find out what the application does instead of sending") \
	X(TX_FLIGHT, 1, "flight", 0, 0, \
	  "everything is sent and acknowledgements are outstanding; nothing is held back", \
	  "nothing to fix: this is the round trip of the path; keep more than one message in " \
	  "flight to hide it") \
	X(TX_SNDBUF, 2, "sndbuf", 1, 1, \
	  "the send buffer (of a pipe: the ring) is full, nothing else holds the queue, and a " \
	  "writer waits for room: asleep in its call, refused with EAGAIN, or in poll() or " \
	  "select()", \
	  "make the reader faster, or raise SO_SNDBUF or tcp_wmem (of a pipe: F_SETPIPE_SZ)") \
	X(TX_RECOVERY, 3, "recovery", 1, 0, \
	  "data that was lost, or that this host could not send, waits for a retransmission or " \
	  "a timer", \
	  "find where packets are dropped: a qdisc, a driver, a full receive buffer, a missing " \
	  "route or link") \
	X(TX_PACING, 4, "pacing", 1, 0, \
	  "pacing or TSO deferral holds the head of the queue", \
	  "raise SO_MAX_PACING_RATE if the program sets it; otherwise the congestion control " \
	  "sets the pace: look for loss and small buffers, or try another congestion control") \
	X(TX_CORK, 5, "cork", 1, 3, \
	  "TCP_CORK, UDP_CORK or MSG_MORE holds a partial segment or datagram", \
	  "clear TCP_CORK once the message is complete, or send its last piece without " \
	  "MSG_MORE: until then the writer itself holds the data back") \
	X(TX_NAGLE, 6, "nagle", 1, 3, \
	  "Nagle's algorithm (Minshall's variant) holds a partial segment until an earlier " \
	  "small one is acknowledged", \
	  "TCP_NODELAY here, TCP_QUICKACK at the peer, or one write for each message") \
	X(TX_CWND, 7, "cwnd", 1, 2, \
	  "data is queued and the congestion window is full", \
	  "look for loss and for a small initial window; try another congestion control") \
	X(TX_RWND, 8, "rwnd", 1, 2, \
	  "data is queued and the next segment does not fit into the peer's receive window", \
	  "make the peer read sooner, or raise its SO_RCVBUF or tcp_rmem") \
	X(TX_DEVICE, 9, "device", 0, 0, \
	  "bytes are in the qdisc, the driver or the NIC, and are not yet reported as sent", \
	  "this is no stall: the device is at work; a faster link or a shorter queue helps") \
	X(TX_WORK, 10, "work", 0, 0, \
	  "a thread runs the send path of this endpoint", \
	  "fewer, larger writes; sendfile or MSG_ZEROCOPY for bulk")

#define RX_STATES(X) \
	X(RX_IDLE, 0, "idle", 0, 0, \
	  "no data, and no reader in a call (a thread that waits for several endpoints, in " \
	  "epoll or poll(), does not count)", \
	  "nothing to fix: nobody waits for this endpoint alone") \
	X(RX_UNREAD, 1, "unread", 0, 0, \
	  "data is queued and no reader is in a call: the application is late", \
	  "read sooner: find out what the named reader does instead") \
	X(RX_WAIT, 2, "wait", 0, 0, \
	  "a reader sleeps in a call for data, or in poll() or select() for this endpoint alone", \
	  "look at the other end: why does it not send?") \
	X(RX_WORK, 3, "work", 0, 0, \
	  "a reader runs the receive path of this endpoint", \
	  "fewer, larger reads")

#define CAUSE_ENUM(sym, num, name, stall, nist, what, fix)  sym = num,
#define CAUSE_COUNT(sym, num, name, stall, nist, what, fix) +1
#define CAUSE_STALL(sym, num, name, stall, nist, what, fix) | (stall) << (num)

enum tx_state { TX_STATES(CAUSE_ENUM) TX_N = 0 TX_STATES(CAUSE_COUNT) };
enum rx_state { RX_STATES(CAUSE_ENUM) RX_N = 0 RX_STATES(CAUSE_COUNT) };

/* one bit per state that is a stall */
enum { TX_STALLS = 0 TX_STATES(CAUSE_STALL) };

_Static_assert(TX_STALLS == (2 << TX_RWND) - (1 << TX_SNDBUF),
	       "the stalls stand apart: this is a comparison no more");

static inline __attribute__((always_inline)) int tx_is_stall(unsigned int state)
{
	return state - TX_SNDBUF <= TX_RWND - TX_SNDBUF;
}

#endif
