// SPDX-License-Identifier: GPL-2.0-only
// As writer.c. Writer PORT [nodelay]
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;

public class Writer {
	private static final byte[] head = new byte[16], body = new byte[1000];

	static void sendMessage(OutputStream out) throws Exception {
		out.write(head);
		out.write(body); // the small piece
	}

	public static void main(String[] args) throws Exception {
		Socket socket = new Socket("127.0.0.1", Integer.parseInt(args[0]));
		socket.setTcpNoDelay(args.length > 1);
		OutputStream out = socket.getOutputStream();
		InputStream in = socket.getInputStream();
		do
			sendMessage(out);
		while (in.readNBytes(32).length == 32);
	}
}
