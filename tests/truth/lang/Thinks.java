// SPDX-License-Identifier: GPL-2.0-only
// Asks 10 times and waits in a Selector for each answer. Prints what it waited, in ns.
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

class Thinks {
	static SocketChannel connect(int port) throws Exception {
		for (;;) {
			try {
				return SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
			} catch (java.net.ConnectException e) {
				Thread.sleep(20);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		SocketChannel c = connect(Integer.parseInt(args[0]));
		Selector selector = Selector.open();
		c.configureBlocking(false);
		c.register(selector, SelectionKey.OP_READ);
		long took = 0;
		for (int i = 0; i < 10; i++) {
			ByteBuffer in = ByteBuffer.allocate(100);
			long began = System.nanoTime();
			c.write(ByteBuffer.wrap("question".getBytes()));
			while (c.read(in) == 0) {
				selector.select();
				selector.selectedKeys().clear();
			}
			took += System.nanoTime() - began;
		}
		System.out.println(took);
		c.close();
	}
}
