package main

import (
	"context"
	"fmt"
	"time"

	"github.com/osrg/gobgp/v4/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// watch prints the time, in milliseconds since 1970, at which gobgpd's link-state table is complete.
func watch(address string, count uint64) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fail(err)
	}
	client := api.NewGoBgpServiceClient(connection)
	pause := time.Duration(5+count/2000) * time.Millisecond
	for {
		table, err := client.GetTable(context.Background(), &api.GetTableRequest{
			TableType: api.TableType_TABLE_TYPE_GLOBAL,
			Family:    &api.Family{Afi: api.Family_AFI_LS, Safi: api.Family_SAFI_LS},
		})
		if err == nil && table.NumPath >= count {
			fmt.Printf("{\"at\":%.3f,\"paths\":%d,\"destinations\":%d}\n",
				float64(time.Now().UnixNano())/1e6, table.NumPath, table.NumDestination)
			return
		}
		time.Sleep(pause)
	}
}
