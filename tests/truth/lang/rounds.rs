// SPDX-License-Identifier: GPL-2.0-only
use std::io::{Read, Write};
use std::time::{Duration, Instant};

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut s = std::net::TcpStream::connect(format!("127.0.0.1:{}", a[1])).unwrap();
    let mut late = Duration::ZERO;
    let mut answer = [0u8; 1];
    for _ in 0..a[2].parse().unwrap() {
        let began = Instant::now();
        if a[3] == "2" {
            s.write_all(b"head").unwrap();
            s.write_all(&[b'b'; 200]).unwrap();
        } else {
            s.write_all(&[b'b'; 204]).unwrap();
        }
        s.read_exact(&mut answer).unwrap();
        if began.elapsed() >= Duration::from_millis(20) {
            late += began.elapsed();
        }
    }
    println!("{}", late.as_nanos());
}
