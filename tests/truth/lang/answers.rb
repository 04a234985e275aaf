# SPDX-License-Identifier: GPL-2.0-only
require "socket"
port, think = ARGV.map(&:to_i)
l = TCPServer.new("127.0.0.1", port)
loop do
  Thread.new(l.accept) do |c|
    begin
      loop do
        until (line = c.gets) == "\r\n"
          raise EOFError unless line
        end
        sleep(think / 1000.0)
        c.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + "x" * 1000)
      end
    rescue EOFError, SystemCallError
      c.close
    end
  end
end
