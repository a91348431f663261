// Command gnmicask asks a target with gnmic's client library and prints each answer as a line of protobuf JSON.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmic/pkg/api"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func main() {
	address := flag.String("address", "", "host:port")
	rpc := flag.String("rpc", "once", "capabilities, get, once, on-change or sample")
	path := flag.String("path", "/interfaces", "")
	encoding := flag.String("encoding", "proto", "")
	responses := flag.Int("responses", 0, "end after so many; 0 waits for the RPC's end")
	username := flag.String("username", "", "")
	password := flag.String("password", "", "")
	ca := flag.String("ca", "", "file; empty speaks no TLS")
	flag.Parse()

	options := []api.TargetOption{api.Name("target"), api.Address(*address), api.Username(*username), api.Password(*password)}
	if *ca == "" {
		options = append(options, api.Insecure(true))
	} else {
		options = append(options, api.TLSCA(*ca))
	}
	target, err := api.NewTarget(options...)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := target.CreateGNMIClient(ctx); err != nil {
		log.Fatal(err)
	}
	defer target.Close()
	print := func(message proto.Message) {
		text, err := protojson.Marshal(message)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(text))
	}
	switch *rpc {
	case "capabilities":
		response, err := target.Capabilities(ctx)
		if err != nil {
			log.Fatal(err)
		}
		print(response)
	case "get":
		request, err := api.NewGetRequest(api.Path(*path), api.Encoding(*encoding))
		if err != nil {
			log.Fatal(err)
		}
		response, err := target.Get(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		print(response)
	case "once":
		request, err := api.NewSubscribeRequest(api.SubscriptionListMode("once"), api.Encoding(*encoding),
			api.Subscription(api.Path(*path)))
		if err != nil {
			log.Fatal(err)
		}
		all, err := target.SubscribeOnce(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		for _, response := range all {
			print(response)
		}
	default:
		request, err := api.NewSubscribeRequest(api.SubscriptionListMode("stream"), api.Encoding(*encoding),
			api.Subscription(api.Path(*path), api.SubscriptionMode(*rpc), api.SampleInterval(100*time.Millisecond)))
		if err != nil {
			log.Fatal(err)
		}
		stream(ctx, target.SubscribeStreamChan, request, *responses, print)
	}
}

type subscriber func(context.Context, *gnmi.SubscribeRequest, string) (chan *gnmi.SubscribeResponse, chan error)

func stream(ctx context.Context, subscribe subscriber, request *gnmi.SubscribeRequest, count int, print func(proto.Message)) {
	responses, errors := subscribe(ctx, request, "sub")
	for read := 0; count == 0 || read < count; read++ {
		select {
		case response := <-responses:
			print(response)
		case err := <-errors:
			log.Fatal(err)
		}
	}
}
