package main

import (
	"context"
	"fmt"
	"time"

	"github.com/osrg/gobgp/v4/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// watch prints the time, in milliseconds since 1970, at which gobgpd's link-state table is complete. To answer, gobgpd
// walks the whole table in the loop that also does its work, so this asks first when `quiet` is over, and from then on
// each fiftieth of it; without knowing, each twentieth of the time that has passed.
func watch(address string, count uint64, quiet time.Duration) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fail(err)
	}
	connection.Connect()
	client := api.NewGoBgpServiceClient(connection)
	began := time.Now()
	asked := 0
	for time.Sleep(quiet); ; asked++ {
		table, err := client.GetTable(context.Background(), &api.GetTableRequest{
			TableType: api.TableType_TABLE_TYPE_GLOBAL,
			Family:    &api.Family{Afi: api.Family_AFI_LS, Safi: api.Family_SAFI_LS},
		})
		if err == nil && table.NumPath >= count {
			fmt.Printf("{\"at\":%.3f,\"paths\":%d,\"destinations\":%d,\"asked\":%d}\n",
				float64(time.Now().UnixNano())/1e6, table.NumPath, table.NumDestination, asked+1)
			return
		}
		pause := quiet / 50
		if quiet == 0 {
			pause = time.Since(began) / 20
		}
		time.Sleep(max(pause, 2*time.Millisecond))
	}
}
