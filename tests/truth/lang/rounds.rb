# SPDX-License-Identifier: GPL-2.0-only
require "socket"
port, rounds, pieces = ARGV.map(&:to_i)
s = TCPSocket.new("127.0.0.1", port)
s.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 0) # Ruby's own sockets ask for no delay since 3.x
late = 0
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
rounds.times do
  began = now.call
  if pieces == 2
    s.syswrite("head")
    s.syswrite("b" * 200)
  else
    s.syswrite("head" + "b" * 200)
  end
  s.sysread(1)
  took = now.call - began
  late += took if took >= 20_000_000
end
puts late
