-- SPDX-License-Identifier: GPL-2.0-only
local socket = require("socket")
local port, rounds, pieces = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3])
local s = assert(socket.connect("127.0.0.1", port))
local late = 0
for _ = 1, rounds do
	local began = socket.gettime()
	if pieces == 2 then
		s:send("head")
		s:send(string.rep("b", 200))
	else
		s:send("head" .. string.rep("b", 200))
	end
	s:receive(1)
	local took = socket.gettime() - began
	if took >= 0.02 then
		late = late + took
	end
end
print(string.format("%d", math.floor(late * 1e9)))
