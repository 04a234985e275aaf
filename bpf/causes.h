/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The states of a ledger: one row each. Enum, names, help, the JSON legend and docs/CAUSES.md come
 *from here.
 *
 * A number is never reused: it is the index in every saved file. A row that is retired keeps its
 *number.
 *
 *	X(symbol, number, name, stall, nist, what holds, what to do)
 *
 * nist: the stall point of the NIST paper (section III) that the row belongs to: 1 sleep for
 *memory, 2 window full, 3 partial packet, 0 none.
 */
#ifndef IPCSTALL_CAUSES_H
#define IPCSTALL_CAUSES_H

#define TX_STATES(X) \
	X(TX_IDLE, 0, "idle", 0, 0, \
	  "nothing is outstanding: the application has given nothing to send", \
	  "nothing: the endpoint is not what limits") \
	X(TX_FLIGHT, 1, "flight", 0, 0, \
	  "everything is sent, acknowledgements are outstanding, nothing waits", \
	  "nothing to send sooner: the time is the path's; have more than one message under way") \
	X(TX_SNDBUF, 2, "sndbuf", 1, 1, \
	  "a writer waits for buffer memory, asleep in its call, refused (EAGAIN) or asking by " \
	  	"poll() or select(), and the head of the queue is not held (pipe: ring full)", \
	  "raise SO_SNDBUF or tcp_wmem (pipe: F_SETPIPE_SZ), or make the reader faster") \
	X(TX_RECOVERY, 3, "recovery", 1, 0, \
	  "lost data, or what this host itself would not send, waits for a retransmission or for " \
	  	"a timer", \
	  "find the loss: drops in a qdisc, a driver or a full receive buffer; a route or a link " \
	  	"that was not there") \
	X(TX_PACING, 4, "pacing", 1, 0, \
	  "the head of the queue is held by pacing or by TSO deferral", \
	  "raise SO_MAX_PACING_RATE where the program sets it; else this is the congestion " \
	  	"control's own pace: another one, or look for small buffers and loss") \
	X(TX_CORK, 5, "cork", 1, 3, \
	  "a partial segment or datagram is held by TCP_CORK, UDP_CORK or MSG_MORE", \
	  "take the cork off once the message is whole, or send its last piece without MSG_MORE; " \
	  	"before, it waits for its writer alone") \
	X(TX_NAGLE, 6, "nagle", 1, 3, \
	  "a partial segment is held by Nagle's rule (Minshall's variant) until a small one is " \
	  	"acknowledged", \
	  "TCP_NODELAY here, TCP_QUICKACK at the peer, or one write for each message") \
	X(TX_CWND, 7, "cwnd", 1, 2, \
	  "data is queued and the congestion window is full", \
	  "look for loss and for a small initial window; another congestion control") \
	X(TX_RWND, 8, "rwnd", 1, 2, \
	  "data is queued and the next segment does not fit the peer's window", \
	  "make the peer read sooner, or raise its SO_RCVBUF or tcp_rmem") \
	X(TX_DEVICE, 9, "device", 0, 0, \
	  "bytes are with the queueing discipline, the driver or the NIC, not yet reported " \
	  	"transmitted", \
	  "the device is at work: that is not a stall; a faster link or a shorter queue helps") \
	X(TX_WORK, 10, "work", 0, 0, \
	  "a thread runs the send path of this endpoint", \
	  "fewer, larger writes; sendfile or MSG_ZEROCOPY for bulk")

#define RX_STATES(X) \
	X(RX_IDLE, 0, "idle", 0, 0, \
	  "no data and no reader in a call; who waits for any of several, by epoll or poll(), is " \
	  	"in none", \
	  "nothing: nobody waits for this one alone") \
	X(RX_UNREAD, 1, "unread", 0, 0, \
	  "data is queued and no reader is in a call: the application is late", \
	  "read sooner: see what the named reader does meanwhile") \
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
