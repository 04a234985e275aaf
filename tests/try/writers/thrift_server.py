# SPDX-License-Identifier: GPL-2.0-only
"""A Thrift server without a buffered transport: every field of an answer is a write of its own. thrift_server [nodelay]: prints its port"""
import socket
import sys

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TMessageType, TType
from thrift.transport.TSocket import TServerSocket

server = TServerSocket("127.0.0.1", 0)
server.listen()
print(server.handle.getsockname()[1], flush=True)
transport = server.accept()
transport.handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(len(sys.argv) > 1))
protocol = TBinaryProtocol(transport)
while True:
    name, _, number = protocol.readMessageBegin()
    protocol.readMessageEnd()
    protocol.writeMessageBegin(name, TMessageType.REPLY, number)
    protocol.writeFieldBegin("success", TType.STRING, 0)
    protocol.writeString("b" * 100)
    protocol.writeFieldStop()
    protocol.writeMessageEnd()
    transport.flush()
