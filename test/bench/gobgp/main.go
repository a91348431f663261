// GoBGP v4 as the measure of the link-state bench and as the second opinion of the differential test.
//
//	gobgp decode FILE ROUNDS   parse every message of FILE, results dropped
//	gobgp keep FILE CHURN ROUNDS  parse and keep by NLRI, then the churn file on it
//	gobgp watch ADDRESS COUNT QUIET  wait until gobgpd's link-state table holds COUNT paths, the first QUIET ms without asking
//	gobgp differ               hex in, what GoBGP reads and writes again out, line by line
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("name a command"))
	}
	switch os.Args[1] {
	case "decode":
		decode(os.Args[2], number(os.Args[3]))
	case "keep":
		keep(os.Args[2], os.Args[3], number(os.Args[4]))
	case "watch":
		watch(os.Args[2], uint64(number(os.Args[3])), time.Duration(number(os.Args[4]))*time.Millisecond)
	case "differ":
		differ()
	default:
		fail(fmt.Errorf("no command %s", os.Args[1]))
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fail(err)
	}
	return value
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
