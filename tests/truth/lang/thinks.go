// SPDX-License-Identifier: GPL-2.0-only
// A server that thinks 100 ms and a client that asks 10 times, on one connection, in two processes. Prints what the client waited, in ns.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

func client(url string) {
	var took time.Duration
	for i := 0; i < 10; i++ {
		began := time.Now()
		res, err := http.Get(url)
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		took += time.Since(began)
	}
	fmt.Println(took.Nanoseconds())
}

func main() {
	if len(os.Args) > 1 {
		client(os.Args[1])
		return
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond)
		io.WriteString(w, "ok")
	}))
	c := exec.Command(os.Args[0], "http://"+l.Addr().String()+"/")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		panic(err)
	}
}
