# SPDX-License-Identifier: GPL-2.0-only
# As writer.c. writer PORT [nodelay]
require 'socket'

def send_message(socket)
  socket.write('h' * 16)
  socket.write('b' * 1000) # the small piece
end

socket = TCPSocket.new('127.0.0.1', ARGV[0].to_i)
socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, ARGV.length > 1 ? 1 : 0)
socket.sync = true
loop do
  send_message(socket)
  break unless socket.read(32)
end
