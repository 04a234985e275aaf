/* SPDX-License-Identifier: GPL-2.0-only */
/* One row a workload; included several times. */
ROW(pipe, "pipe")
ROW(socketpair, "socketpair")
ROW(unix, "unix")
ROW(unix_seqpacket, "unix-seqpacket")
ROW(unix_dgram, "unix-dgram")
ROW(tcp, "tcp")
ROW(udp, "udp")
ROW(rudp, "rudp")
ROW(grpc, "grpc")
ROW(grpc_unix, "grpc-unix")
ROW(thrift, "thrift")
