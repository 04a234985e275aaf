# SPDX-License-Identifier: GPL-2.0-only
# WEBrick. webrick [nodelay]: prints its port
require 'webrick'

nodelay = ->(socket) { socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, ARGV.empty? ? 0 : 1) }
server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: 0, AccessLog: [], AcceptCallback: nodelay,
                                 Logger: WEBrick::Log.new(File::NULL))
server.mount_proc('/') { |_, response| response.body = 'b' * 1000 }
puts server.listeners[0].addr[1]
$stdout.flush
trap('TERM') { exit! }
server.start
