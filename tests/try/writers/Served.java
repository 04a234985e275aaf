// SPDX-License-Identifier: GPL-2.0-only
// The JDK's own web server, which writes an answer's head and body apart. Served: prints its port
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Served {
	public static void main(String[] args) throws Exception {
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
		byte[] body = new byte[1000];

		server.createContext("/", exchange -> {
			exchange.sendResponseHeaders(200, body.length);
			exchange.getResponseBody().write(body);
			exchange.close();
		});
		server.start();
		System.out.println(server.getAddress().getPort());
		System.out.flush();
	}
}
