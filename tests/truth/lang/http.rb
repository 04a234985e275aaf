# SPDX-License-Identifier: GPL-2.0-only
require "webrick"
port, think = ARGV.map(&:to_i)
s = WEBrick::HTTPServer.new(Port: port, BindAddress: "127.0.0.1", AccessLog: [], Logger: WEBrick::Log.new(File::NULL))
s.mount_proc("/") { |_, r| sleep(think.to_i / 1000.0); r.body = "x" * 1000 }
s.start
