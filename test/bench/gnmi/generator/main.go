// Command generator is a gNMI target made for load: it sends notifications encoded beforehand, as fast as flow control
// lets it, then sync_response, and says on stdout when a stream's last message was handed to the transport.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"sync/atomic"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

var leaves = []string{
	"in-octets", "in-unicast-pkts", "in-broadcast-pkts", "in-multicast-pkts", "in-discards",
	"out-octets", "out-unicast-pkts", "out-broadcast-pkts", "out-multicast-pkts", "out-discards",
}

// raw lets messages pass that are encoded already, and decodes what the client sends.
type raw struct{}

func (raw) Name() string { return "proto" }
func (raw) Marshal(v any) ([]byte, error) {
	if encoded, ok := v.([]byte); ok {
		return encoded, nil
	}
	return proto.Marshal(v.(proto.Message))
}
func (raw) Unmarshal(data []byte, v any) error { return proto.Unmarshal(data, v.(proto.Message)) }

type server struct {
	pb.UnimplementedGNMIServer
	interfaces, notifications, updates int
	distinct, json, prefix             bool
	streams                            atomic.Int64
}

func (s *server) Subscribe(stream pb.GNMI_SubscribeServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	number := s.streams.Add(1)
	cycles := 4
	messages := make([][]byte, 0, s.interfaces*cycles*len(leaves)/s.updates)
	for cycle := 0; cycle < cycles; cycle++ {
		for index := 0; index < s.interfaces; index++ {
			name := fmt.Sprintf("ethernet-1/%d", index+1)
			if s.distinct {
				name = fmt.Sprintf("ethernet-%d/%d", number, index+1)
			}
			container := []*pb.PathElem{
				{Name: "interfaces"},
				{Name: "interface", Key: map[string]string{"name": name}},
				{Name: "state"}, {Name: "counters"},
			}
			for from := 0; from < len(leaves); from += s.updates {
				notification := &pb.Notification{Timestamp: 1790000000000000000 + int64(cycle)*10000000000}
				if s.prefix {
					notification.Prefix = &pb.Path{Elem: container}
				}
				for leaf := from; leaf < from+s.updates; leaf++ {
					path := &pb.Path{}
					if !s.prefix {
						path.Elem = append(path.Elem, container...)
					}
					path.Elem = append(path.Elem, &pb.PathElem{Name: leaves[leaf]})
					value := 9223372036854775807 + uint64(cycle*1000003+index*101+leaf)
					typed := &pb.TypedValue{Value: &pb.TypedValue_UintVal{UintVal: value}}
					if s.json {
						// A 64-bit integer is a string there (RFC 7951 section 6.1).
						typed.Value = &pb.TypedValue_JsonIetfVal{JsonIetfVal: fmt.Appendf(nil, "\"%d\"", value)}
					}
					notification.Update = append(notification.Update, &pb.Update{Path: path, Val: typed})
				}
				encoded, err := proto.Marshal(&pb.SubscribeResponse{
					Response: &pb.SubscribeResponse_Update{Update: notification},
				})
				if err != nil {
					return err
				}
				messages = append(messages, encoded)
			}
		}
	}
	for sent := 0; sent < s.notifications; sent++ {
		if err := stream.SendMsg(messages[sent%len(messages)]); err != nil {
			return err
		}
	}
	if err := stream.Send(&pb.SubscribeResponse{Response: &pb.SubscribeResponse_SyncResponse{SyncResponse: true}}); err != nil {
		return err
	}
	fmt.Printf("sent %d\n", number)
	<-stream.Context().Done()
	return nil
}

func main() {
	s := &server{}
	flag.IntVar(&s.interfaces, "interfaces", 500, "interfaces of each stream")
	flag.IntVar(&s.notifications, "notifications", 100000, "notifications of each stream")
	flag.IntVar(&s.updates, "updates", 10, "updates in a notification: 10, 5, 2 or 1")
	flag.BoolVar(&s.distinct, "distinct", false, "other interface names on each stream")
	flag.BoolVar(&s.json, "json", false, "values as JSON_IETF in place of uint_val")
	flag.BoolVar(&s.prefix, "prefix", false, "the container's path as the notification's prefix")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	grpcServer := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.WriteBufferSize(1<<18))
	pb.RegisterGNMIServer(grpcServer, s)
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(grpcServer.Serve(listener))
}
