// SPDX-License-Identifier: GPL-2.0-only
package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	rounds, _ := strconv.Atoi(os.Args[2])
	c, err := net.Dial("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	if os.Args[3] == "2" {
		c.(*net.TCPConn).SetNoDelay(false)
	}
	head, body, answer := []byte("head"), []byte(strings.Repeat("b", 200)), make([]byte, 1)
	var late time.Duration
	for i := 0; i < rounds; i++ {
		began := time.Now()
		if os.Args[3] == "2" {
			c.Write(head)
			c.Write(body)
		} else {
			c.Write(append([]byte("head"), body...))
		}
		c.Read(answer)
		if took := time.Since(began); took >= 20*time.Millisecond {
			late += took
		}
	}
	fmt.Println(late.Nanoseconds())
}
