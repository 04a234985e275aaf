// SPDX-License-Identifier: GPL-2.0-only
// As writer.c, with Go's default undone. writer PORT [nodelay]
package main

import (
	"io"
	"net"
	"os"
)

//go:noinline
func sendMessage(conn net.Conn, head, body []byte) error {
	if _, err := conn.Write(head); err != nil {
		return err
	}
	_, err := conn.Write(body) // the small piece
	return err
}

func main() {
	conn, err := net.Dial("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	conn.(*net.TCPConn).SetNoDelay(len(os.Args) > 2)
	answer := make([]byte, 32)
	for err == nil {
		err = sendMessage(conn, make([]byte, 16), make([]byte, 1000))
		if err == nil {
			_, err = io.ReadFull(conn, answer)
		}
	}
}
