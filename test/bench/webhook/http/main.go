// The two ends that the webhook bench measures with: a sink that counts and digests what it receives, and a client on
// Go's net/http, as a Go program would post records one by one.
//
//	http sink -listen 127.0.0.1:9000 [-latency 1ms]     GET /stats answers and resets
//	http client -url http://… -requests 100000 -connections 32 -body file
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"net"
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
		_ = flags.Parse(os.Args[2:])
		sink(*listen, *latency)
	case "client":
		url := flags.String("url", "", "")
		requests := flags.Int64("requests", 1, "")
		connections := flags.Int("connections", 32, "")
		body := flags.String("body", "", "a file; every request has its content")
		_ = flags.Parse(os.Args[2:])
		client(*url, *requests, *connections, *body)
	}
}

type stats struct {
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"`
	// The sum of a hash of each body: the same for the same bodies in any order, within one process of the sink.
	Digest string `json:"digest"`
	// From the first to the last request.
	Seconds float64 `json:"seconds"`
}

func sink(listen string, latency time.Duration) {
	var requests, length, first, last atomic.Int64
	var digest atomic.Uint64
	seed := maphash.MakeSeed()
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	mux := http.NewServeMux()
	mux.HandleFunc("/stats", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(stats{
			requests.Swap(0), length.Swap(0), fmt.Sprintf("%016x", digest.Swap(0)),
			time.Duration(last.Load() - first.Swap(0)).Seconds(),
		})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		buffer := buffers.Get().(*bytes.Buffer)
		buffer.Reset()
		_, _ = io.Copy(buffer, r.Body)
		now := time.Now().UnixNano()
		first.CompareAndSwap(0, now)
		last.Store(now)
		requests.Add(1)
		length.Add(int64(buffer.Len()))
		digest.Add(maphash.Bytes(seed, buffer.Bytes()))
		buffers.Put(buffer)
		if latency > 0 {
			time.Sleep(latency)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	panic(http.Serve(listener, mux))
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
