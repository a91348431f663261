// The two ends that the webhook bench measures with: a sink that counts and digests what it receives, and a client on
// Go's net/http, as a Go program would post records one by one.
//
//	http sink -listen 127.0.0.1:9000 [-latency 1ms] [-request-id]     GET /stats answers and resets, GET /stats?keep answers
//	http client -url http://… -requests 100000 -connections 32 -body file
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "sink or client")
		os.Exit(2)
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	switch os.Args[1] {
	case "sink":
		listen := flags.String("listen", "127.0.0.1:0", "")
		latency := flags.Duration("latency", 0, "")
		distinct := flags.Bool("request-id", false, "each answer has an x-request-id of its own")
		_ = flags.Parse(os.Args[2:])
		sink(*listen, *latency, *distinct)
	case "client":
		url := flags.String("url", "", "")
		requests := flags.Int64("requests", 1, "")
		connections := flags.Int("connections", 32, "")
		body := flags.String("body", "", "a file; every request has its content")
		_ = flags.Parse(os.Args[2:])
		client(*url, *requests, *connections, *body)
	}
}

func client(url string, requests int64, connections int, bodyFile string) {
	body, err := os.ReadFile(bodyFile)
	if err != nil {
		panic(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}
	sender := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	// The first fifth is a warm-up that is sent but not measured.
	warmUp := requests / 5
	var failed atomic.Int64
	post(sender, url, body, warmUp, connections, &failed)
	before, started := cpuTime(), time.Now()
	post(sender, url, body, requests-warmUp, connections, &failed)
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests": requests - warmUp, "failed": failed.Load(),
		"seconds": time.Since(started).Seconds(), "cpu-seconds": (cpuTime() - before).Seconds(),
	})
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func post(sender *http.Client, url string, body []byte, requests int64, connections int, failed *atomic.Int64) {
	var left atomic.Int64
	left.Store(requests)
	var workers sync.WaitGroup
	for range connections {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for left.Add(-1) >= 0 {
				request, _ := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				response, err := sender.Do(request)
				if err != nil || response.StatusCode >= 400 {
					failed.Add(1)
				}
				if err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
			}
		}()
	}
	workers.Wait()
}
