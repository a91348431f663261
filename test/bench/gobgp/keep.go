package main

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"sort"
	"time"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// keep measures parse and keep in a map by NLRI, and then the same for the messages of a second file.
func keep(file, churn string, rounds int) {
	runtime.GOMAXPROCS(1)
	all := messages(file)
	changes := messages(churn)
	r := result{Counts: map[string]int{}, Extra: map[string]any{}}
	var churned []float64
	for round := 0; round < rounds; round++ {
		table := map[string]*bgp.BGPMessage{}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		started, used := time.Now(), cpu()
		apply(all, table)
		r.Milliseconds = append(r.Milliseconds, float64(time.Since(started).Nanoseconds())/1e6)
		r.CPU = append(r.CPU, cpu()-used)
		started = time.Now()
		apply(changes, table)
		churned = append(churned, float64(time.Since(started).Nanoseconds())/1e6)
		runtime.GC()
		runtime.ReadMemStats(&after)
		r.Extra["bytesPerNlri"] = float64(after.HeapAlloc-before.HeapAlloc) / float64(len(table))
		if round == rounds-1 {
			r.Digest = digestOf(table)
			for _, m := range table {
				reach, _, _ := linkState(m)
				for range reach {
					r.Counts["kept"]++
				}
			}
		}
	}
	r.Extra["churnMilliseconds"] = churned
	print(r)
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

func digestOf(table map[string]*bgp.BGPMessage) string {
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	digest := sha256.New()
	for _, key := range keys {
		digest.Write([]byte(key))
	}
	return hex.EncodeToString(digest.Sum(nil))
}
