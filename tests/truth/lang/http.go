// SPDX-License-Identifier: GPL-2.0-only
package main

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// http.go serve PORT [THINK_MS] | http.go get URL TIMES
func main() {
	if os.Args[1] == "serve" {
		think := 0
		if len(os.Args) > 3 {
			think, _ = strconv.Atoi(os.Args[3])
		}
		http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Duration(think) * time.Millisecond)
			w.Write(make([]byte, 1000))
		})
		panic(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
	}
	times, _ := strconv.Atoi(os.Args[3])
	for i := 0; i < times; i++ {
		r, err := http.Get(os.Args[2])
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}
