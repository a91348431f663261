package main

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"sort"
	"syscall"
	"time"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// keep measures parse and keep in a map by NLRI, and then the same for the messages of a second file.
func keep(file, churn string, rounds int) {
	all := messages(file)
	changes := messages(churn)
	r := result{Counts: map[string]int{}, Extra: map[string]any{}}
	var churned, churnedCPU []float64
	table := map[string]*bgp.BGPMessage{}
	for round := 0; round < rounds; round++ {
		table = map[string]*bgp.BGPMessage{}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		started, used := time.Now(), cpu()
		apply(all, table)
		r.Milliseconds = append(r.Milliseconds, milliseconds(started))
		r.CPU = append(r.CPU, cpu()-used)
		started, used = time.Now(), cpu()
		apply(changes, table)
		churned = append(churned, milliseconds(started))
		churnedCPU = append(churnedCPU, cpu()-used)
		runtime.GC()
		runtime.ReadMemStats(&after)
		r.Extra["bytesPerNlri"] = float64(after.HeapAlloc-before.HeapAlloc) / float64(len(table))
	}
	r.Extra["churnMilliseconds"] = churned
	r.Extra["churnCpuMilliseconds"] = churnedCPU
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	r.PeakBytes = usage.Maxrss * 1024
	r.Counts["kept"] = len(table)
	r.Digest = digestOf(table)
	print(r)
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Nanoseconds()) / 1e6
}

func apply(all [][]byte, table map[string]*bgp.BGPMessage) {
	for _, data := range all {
		m, err := bgp.ParseBGPMessage(data)
		if err != nil {
			fail(err)
		}
		for _, path := range m.Body.(*bgp.BGPUpdate).PathAttributes {
			switch a := path.(type) {
			case *bgp.PathAttributeMpUnreachNLRI:
				for _, nlri := range a.Value {
					bytes, _ := nlri.NLRI.Serialize()
					delete(table, string(bytes))
				}
			case *bgp.PathAttributeMpReachNLRI:
				for _, nlri := range a.Value {
					bytes, _ := nlri.NLRI.Serialize()
					table[string(bytes)] = m
				}
			}
		}
	}
}

// digestOf is of each NLRI's octets in their order and, behind them, of what was decoded. Each UPDATE has one NLRI.
func digestOf(table map[string]*bgp.BGPMessage) string {
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	digest := sha256.New()
	for _, key := range keys {
		digest.Write([]byte(key))
		for _, line := range lines(table[key], map[string]int{}) {
			digest.Write([]byte(line))
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}
