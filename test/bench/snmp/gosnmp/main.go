// gosnmp as a collector: it polls all devices again and again, each by a goroutine of its own, and writes one JSON
// record an interface. At the end it says how many polls it finished after its warm rounds, and the CPU seconds of those.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gosnmp/gosnmp"
)

var columns = []int{1, 6, 7, 8, 9, 10, 11, 12, 13}

func main() {
	devices := flag.Int("devices", 50, "devices, on 127.0.1.1 and up")
	port := flag.Int("port", 16161, "UDP port")
	rounds := flag.Int("rounds", 20, "how often each device is polled")
	warm := flag.Int("warm", 0, "rounds of these that are not measured")
	repetitions := flag.Int("repetitions", 50, "max-repetitions")
	v3 := flag.Bool("v3", false, "SNMPv3, SHA-256 and AES-128")
	output := flag.String("output", os.DevNull, "where the records go")
	flag.Parse()
	file, err := os.Create(*output)
	if err != nil {
		panic(err)
	}
	writer := bufio.NewWriterSize(file, 1<<20)
	var lock sync.Mutex
	var polls atomic.Int64
	warmPolls := int64(*warm * *devices)
	before := cpuSeconds()
	var group sync.WaitGroup
	for number := 1; number <= *devices; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client := &gosnmp.GoSNMP{
				Target: fmt.Sprintf("127.0.1.%d", number), Port: uint16(*port), Community: "public",
				Version: gosnmp.Version2c, Timeout: 5 * time.Second, Retries: 2, MaxRepetitions: uint32(*repetitions),
			}
			if *v3 {
				client.Version = gosnmp.Version3
				client.SecurityModel = gosnmp.UserSecurityModel
				client.MsgFlags = gosnmp.AuthPriv
				client.SecurityParameters = &gosnmp.UsmSecurityParameters{
					UserName: "mon", AuthenticationProtocol: gosnmp.SHA256, AuthenticationPassphrase: "authpass1",
					PrivacyProtocol: gosnmp.AES, PrivacyPassphrase: "privpass1",
				}
			}
			if err := client.Connect(); err != nil {
				panic(err)
			}
			for round := 0; round < *rounds; round++ {
				rows := map[int]map[string]any{}
				for _, column := range columns {
					root := "1.3.6.1.2.1.31.1.1.1." + strconv.Itoa(column)
					key := strconv.Itoa(column)
					err := client.BulkWalk(root, func(pdu gosnmp.SnmpPDU) error {
						index, _ := strconv.Atoi(pdu.Name[strings.LastIndexByte(pdu.Name, '.')+1:])
						row := rows[index]
						if row == nil {
							row = map[string]any{"device": number, "index": index}
							rows[index] = row
						}
						if text, ok := pdu.Value.([]byte); ok {
							row[key] = string(text)
						} else {
							row[key] = pdu.Value
						}
						return nil
					})
					if err != nil {
						panic(err)
					}
				}
				lock.Lock()
				encoder := json.NewEncoder(writer)
				for _, row := range rows {
					_ = encoder.Encode(row)
				}
				lock.Unlock()
				if polls.Add(1) == warmPolls {
					lock.Lock()
					before = cpuSeconds()
					lock.Unlock()
				}
			}
		}()
	}
	group.Wait()
	_ = writer.Flush()
	fmt.Printf("{\"polls\":%d,\"cpuSeconds\":%.3f}\n", polls.Load()-warmPolls, cpuSeconds()-before)
}

// cpuSeconds tells the user and system time of this process so far.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
