// SPDX-License-Identifier: GPL-2.0-only
// As writer.c. writer PORT [nodelay]
use std::io::{Read, Write};
use std::net::TcpStream;

struct Connection {
    stream: TcpStream,
}

impl Connection {
    #[inline(never)]
    fn send_message(&mut self, head: &[u8], body: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(head)?;
        self.stream.write_all(body) // the small piece
    }

    #[inline(never)]
    fn ask(&mut self) -> std::io::Result<()> {
        let mut answer = [0u8; 32];
        self.send_message(&[7u8; 16], &[1u8; 1000])?;
        self.stream.read_exact(&mut answer)
    }
}

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let stream = TcpStream::connect(format!("127.0.0.1:{}", args[1]))?;
    stream.set_nodelay(args.len() > 2)?;
    let mut connection = Connection { stream };
    loop {
        connection.ask()?;
    }
}
