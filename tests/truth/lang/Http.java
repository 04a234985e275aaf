// SPDX-License-Identifier: GPL-2.0-only
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Http {
	public static void main(String[] a) throws Exception {
		int think = a.length > 1 ? Integer.parseInt(a[1]) : 0;
		HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 0);
		s.createContext("/", q -> {
			try {
				Thread.sleep(think);
			} catch (InterruptedException e) {
				return;
			}
			byte[] b = "x".repeat(1000).getBytes();
			q.sendResponseHeaders(200, b.length);
			q.getResponseBody().write(b);
			q.close();
		});
		s.start();
	}
}
