// SPDX-License-Identifier: GPL-2.0-only
import java.net.Socket;

public class Rounds {
	public static void main(String[] a) throws Exception {
		int rounds = Integer.parseInt(a[1]);
		boolean two = a[2].equals("2");
		byte[] head = "head".getBytes(), body = "b".repeat(200).getBytes(), whole = ("head" + "b".repeat(200)).getBytes();
		long late = 0;
		try (Socket s = new Socket("127.0.0.1", Integer.parseInt(a[0]))) {
			for (int i = 0; i < rounds; i++) {
				long began = System.nanoTime();
				if (two) {
					s.getOutputStream().write(head);
					s.getOutputStream().write(body);
				} else {
					s.getOutputStream().write(whole);
				}
				s.getInputStream().read();
				long took = System.nanoTime() - began;
				late += took >= 20_000_000 ? took : 0;
			}
		}
		System.out.println(late);
	}
}
