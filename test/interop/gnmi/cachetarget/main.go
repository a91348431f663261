// Command cachetarget serves the reference packages openconfig/gnmi cache and subscribe over TLS: STREAM ON_CHANGE,
// ONCE and POLL as their authors understand them. Commands come on stdin, one a line: "set IF LEAF VALUE",
// "delete IF", "describe FILE" (writes the descriptors of gnmi.proto as protobuf JSON).
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/openconfig/gnmi/cache"
	pb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/subscribe"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protodesc"
)

const target = "leaf1"

func elems(name string, leaf ...string) []*pb.PathElem {
	path := []*pb.PathElem{{Name: "interfaces"}, {Name: "interface", Key: map[string]string{"name": name}}}
	for _, each := range leaf {
		path = append(path, &pb.PathElem{Name: each})
	}
	return path
}

func notify(c *cache.Cache, n *pb.Notification) {
	n.Timestamp = time.Now().UnixNano()
	n.Prefix = &pb.Path{Target: target, Origin: "openconfig"}
	if err := c.GnmiUpdate(n); err != nil {
		log.Printf("cache: %v", err)
	}
}

func set(c *cache.Cache, name, leaf string, value uint64) {
	notify(c, &pb.Notification{Update: []*pb.Update{{
		Path: &pb.Path{Elem: elems(name, "state", "counters", leaf)},
		Val:  &pb.TypedValue{Value: &pb.TypedValue_UintVal{UintVal: value}},
	}}})
}

func main() {
	address := flag.String("address", "127.0.0.1:0", "where to listen")
	cert := flag.String("cert", "", "server certificate")
	key := flag.String("key", "", "server key")
	password := flag.String("password", "", "for user admin; empty asks for none")
	flag.Parse()

	c := cache.New([]string{target})
	server, err := subscribe.NewServer(c)
	if err != nil {
		log.Fatal(err)
	}
	c.SetClient(server.Update)
	for i := 1; i <= 3; i++ {
		for _, leaf := range []string{"in-octets", "out-octets"} {
			set(c, fmt.Sprintf("ethernet-1/%d", i), leaf, 18446744073709551000+uint64(i))
		}
	}
	c.Sync(target)

	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		log.Fatal(err)
	}
	authorize := func(ctx context.Context) error {
		md, _ := metadata.FromIncomingContext(ctx)
		if *password != "" && (len(md["password"]) == 0 || md["password"][0] != *password) {
			return status.Error(codes.Unauthenticated, "wrong password")
		}
		return nil
	}
	grpcServer := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}})),
		grpc.StreamInterceptor(func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if err := authorize(ss.Context()); err != nil {
				return err
			}
			return handler(srv, ss)
		}),
	)
	pb.RegisterGNMIServer(grpcServer, &gnmiServer{Server: server})
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	go command(c)
	log.Fatal(grpcServer.Serve(listener))
}

// gnmiServer has Subscribe of the reference package; the other RPCs are unimplemented.
type gnmiServer struct {
	pb.UnimplementedGNMIServer
	*subscribe.Server
}

func (s *gnmiServer) Subscribe(stream pb.GNMI_SubscribeServer) error { return s.Server.Subscribe(stream) }

func command(c *cache.Cache) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 4 && words[0] == "set":
			value, err := strconv.ParseUint(words[3], 10, 64)
			if err != nil {
				log.Fatal(err)
			}
			set(c, words[1], words[2], value)
		case len(words) == 2 && words[0] == "delete":
			notify(c, &pb.Notification{Delete: []*pb.Path{{Elem: elems(words[1])}}})
		case len(words) == 2 && words[0] == "describe":
			file := protodesc.ToFileDescriptorProto(pb.File_github_com_openconfig_gnmi_proto_gnmi_gnmi_proto)
			text, err := protojson.Marshal(file)
			if err == nil {
				err = os.WriteFile(words[1], text, 0o600)
			}
			if err != nil {
				log.Fatal(err)
			}
		default:
			log.Fatalf("what is %q?", lines.Text())
		}
		fmt.Println("done")
	}
	os.Exit(0)
}
