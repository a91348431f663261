package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// result is what each measured program prints; the TypeScript side prints the same members.
type result struct {
	Milliseconds []float64      `json:"milliseconds"`
	CPU          []float64      `json:"cpuMilliseconds"`
	PeakBytes    int64          `json:"peakBytes"`
	Counts       map[string]int `json:"counts"`
	Digest       string         `json:"digest"`
	Extra        map[string]any `json:"extra,omitempty"`
}

func print(r result) {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	if r.PeakBytes == 0 {
		r.PeakBytes = usage.Maxrss * 1024
	}
	text, err := json.Marshal(r)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

// cpu is the CPU time of the process so far, the collector's threads included, in milliseconds.
func cpu() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return 1e3 * (seconds(usage.Utime) + seconds(usage.Stime))
}

func seconds(t syscall.Timeval) float64 {
	return float64(t.Sec) + float64(t.Usec)/1e6
}

func messages(file string) [][]byte {
	data, err := os.ReadFile(file)
	if err != nil {
		fail(err)
	}
	var all [][]byte
	for at := 0; at < len(data); {
		length := int(binary.BigEndian.Uint16(data[at+16:]))
		all = append(all, data[at:at+length])
		at += length
	}
	return all
}

// decode measures what ParseBGPMessage costs when nothing is kept but the last 1,024 results.
func decode(file string, rounds int) {
	all := messages(file)
	ring := make([]*bgp.BGPMessage, 1024)
	r := result{Counts: map[string]int{}}
	for round := 0; round < rounds; round++ {
		started, before := time.Now(), cpu()
		for i, data := range all {
			m, err := bgp.ParseBGPMessage(data)
			if err != nil {
				fail(err)
			}
			ring[i&1023] = m
		}
		r.Milliseconds = append(r.Milliseconds, float64(time.Since(started).Nanoseconds())/1e6)
		r.CPU = append(r.CPU, cpu()-before)
	}
	digest := sha256.New()
	for _, data := range all {
		m, _ := bgp.ParseBGPMessage(data)
		for _, line := range lines(m, r.Counts) {
			digest.Write([]byte(line))
		}
	}
	r.Digest = hex.EncodeToString(digest.Sum(nil))
	print(r)
}
