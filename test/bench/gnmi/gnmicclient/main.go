// Command gnmicclient collects with gnmic's libraries (pkg/api/target and pkg/formatters.ResponseToEventMsgs, the
// program's hot path) and writes each event as JSON, as gnmic's file output does. At the end it prints one line:
// updates, CPU seconds, peak memory in KB and, when asked, a digest of all values.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmic/pkg/api"
	"github.com/openconfig/gnmic/pkg/formatters"
)

func main() {
	address := flag.String("address", "", "host:port of the target")
	streams := flag.Int("streams", 1, "targets to collect from, all at the address")
	digest := flag.Bool("digest", false, "digest the values")
	username := flag.String("username", "", "")
	password := flag.String("password", "", "")
	insecure := flag.Bool("insecure", true, "no TLS")
	mode := flag.String("mode", "stream", "stream, once or poll")
	path := flag.String("path", "/interfaces/interface/state/counters", "")
	encoding := flag.String("encoding", "proto", "")
	print := flag.Bool("print", false, "print every event")
	flag.Parse()

	var out io.Writer = io.Discard
	if *print {
		out = os.Stdout
	}
	var updates atomic.Int64
	var sum atomic.Uint64
	var group sync.WaitGroup
	for index := 0; index < *streams; index++ {
		group.Add(1)
		go func() {
			defer group.Done()
			name := fmt.Sprintf("device-%d", index)
			target, err := api.NewTarget(api.Name(name), api.Address(*address), api.Insecure(*insecure),
				api.SkipVerify(!*insecure), api.Username(*username), api.Password(*password))
			if err != nil {
				log.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if err := target.CreateGNMIClient(ctx); err != nil {
				log.Fatal(err)
			}
			defer target.Close()
			request, err := api.NewSubscribeRequest(api.SubscriptionListMode(*mode), api.Encoding(*encoding),
				api.Subscription(api.Path(*path)))
			if err != nil {
				log.Fatal(err)
			}
			var responses chan *gnmi.SubscribeResponse
			var errors chan error
			if *mode == "once" {
				responses, errors = target.SubscribeOnceChan(ctx, request)
			} else {
				responses, errors = target.SubscribeStreamChan(ctx, request, name)
			}
			for {
				select {
				case err := <-errors:
					if err == nil || err == io.EOF || strings.Contains(err.Error(), "EOF") {
						return
					}
					log.Fatal(err)
				case response := <-responses:
					if response.GetSyncResponse() {
						return
					}
					events, err := formatters.ResponseToEventMsgs("bench", response, map[string]string{"source": name})
					if err != nil {
						log.Fatal(err)
					}
					for _, event := range events {
						text, err := json.Marshal(event)
						if err != nil {
							log.Fatal(err)
						}
						if *print {
							text = append(text, '\n')
						}
						out.Write(text)
						updates.Add(int64(len(event.Values)))
						if !*digest {
							continue
						}
						for path, value := range event.Values {
							h := fnv.New64a()
							leaf := path[strings.LastIndex(path, "/")+1:]
							fmt.Fprintf(h, "%s/%s=%v", event.Tags["interface_name"], leaf, value)
							sum.Add(h.Sum64())
						}
					}
				}
			}
		}()
	}
	group.Wait()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	cpu := float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
	fmt.Fprintf(os.Stderr, "{\"updates\":%d,\"cpuSeconds\":%.3f,\"peakKilobytes\":%d,\"digest\":\"%016x\"}\n",
		updates.Load(), cpu, usage.Maxrss, sum.Load())
}
