package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// result is what each measured program prints; the TypeScript side prints the same members.
type result struct {
	Milliseconds []float64      `json:"milliseconds"`
	CPU          []float64      `json:"cpuMilliseconds"`
	CPUSeconds   float64        `json:"cpuSeconds"`
	PeakBytes    int64          `json:"peakBytes"`
	Counts       map[string]int `json:"counts"`
	Digest       string         `json:"digest"`
	Extra        map[string]any `json:"extra,omitempty"`
}

func print(r result) {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	r.CPUSeconds = seconds(usage.Utime) + seconds(usage.Stime)
	r.PeakBytes = usage.Maxrss * 1024
	text, err := json.Marshal(r)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

// cpu is the CPU time of the process so far, the collector's threads included, in milliseconds.
func cpu() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return 1e3 * (seconds(usage.Utime) + seconds(usage.Stime))
}

func seconds(t syscall.Timeval) float64 {
	return float64(t.Sec) + float64(t.Usec)/1e6
}

func messages(file string) [][]byte {
	data, err := os.ReadFile(file)
	if err != nil {
		fail(err)
	}
	var all [][]byte
	for at := 0; at < len(data); {
		length := int(binary.BigEndian.Uint16(data[at+16:]))
		all = append(all, data[at:at+length])
		at += length
	}
	return all
}

// decode measures what ParseBGPMessage costs when nothing is kept but the last 1,024 results.
func decode(file string, rounds int) {
	runtime.GOMAXPROCS(1)
	all := messages(file)
	ring := make([]*bgp.BGPMessage, 1024)
	r := result{Counts: map[string]int{}}
	for round := 0; round < rounds; round++ {
		started, before := time.Now(), cpu()
		for i, data := range all {
			m, err := bgp.ParseBGPMessage(data)
			if err != nil {
				fail(err)
			}
			ring[i&1023] = m
		}
		r.Milliseconds = append(r.Milliseconds, float64(time.Since(started).Nanoseconds())/1e6)
		r.CPU = append(r.CPU, cpu()-before)
	}
	digest := sha256.New()
	for _, data := range all {
		m, _ := bgp.ParseBGPMessage(data)
		for _, line := range lines(m, r.Counts) {
			digest.Write([]byte(line))
		}
	}
	r.Digest = hex.EncodeToString(digest.Sum(nil))
	print(r)
}

// linkState gives the NLRIs announced and withdrawn by a message, and its attribute.
func linkState(m *bgp.BGPMessage) (reach, unreach []bgp.PathNLRI, attribute *bgp.LsAttribute) {
	for _, path := range m.Body.(*bgp.BGPUpdate).PathAttributes {
		switch a := path.(type) {
		case *bgp.PathAttributeMpReachNLRI:
			reach = a.Value
		case *bgp.PathAttributeMpUnreachNLRI:
			unreach = a.Value
		case *bgp.PathAttributeLs:
			attribute = a.Extract()
		}
	}
	return
}

// lines says of each object what both sides know of it, in one canonical line.
func lines(m *bgp.BGPMessage, counts map[string]int) []string {
	reach, _, attribute := linkState(m)
	var all []string
	for _, path := range reach {
		nlri := path.NLRI.(*bgp.LsAddrPrefix)
		fields := []string{fmt.Sprint(uint16(nlri.Type))}
		counts[fields[0]]++
		node := func(tlv bgp.LsTLVInterface) {
			d := tlv.(*bgp.LsTLVNodeDescriptor).Extract()
			fields = append(fields, fmt.Sprint(d.Asn), d.IGPRouterID)
		}
		switch n := nlri.NLRI.(type) {
		case *bgp.LsNodeNLRI:
			node(n.LocalNodeDesc)
		case *bgp.LsLinkNLRI:
			node(n.LocalNodeDesc)
			node(n.RemoteNodeDesc)
			link := &bgp.LsLinkDescriptor{}
			link.ParseTLVs(n.LinkDesc)
			fields = append(fields, address(link.InterfaceAddrIPv4), address(link.NeighborAddrIPv4))
		case *bgp.LsPrefixV4NLRI:
			node(n.LocalNodeDesc)
			prefix := &bgp.LsPrefixDescriptor{}
			prefix.ParseTLVs(n.PrefixDesc, false)
			fields = append(fields, fmt.Sprint(prefix.IPReachability))
		case *bgp.LsPrefixV6NLRI:
			node(n.LocalNodeDesc)
			prefix := &bgp.LsPrefixDescriptor{}
			prefix.ParseTLVs(n.PrefixDesc, true)
			fields = append(fields, fmt.Sprint(prefix.IPReachability))
		case *bgp.LsSrv6SIDNLRI:
			node(n.LocalNodeDesc)
		}
		if attribute != nil {
			fields = append(fields, attributeFields(attribute)...)
		}
		all = append(all, strings.Join(fields, "|")+"\n")
	}
	return all
}

func address(value any) string {
	text := fmt.Sprint(value)
	if text == "<nil>" || text == "invalid IP" {
		return "-"
	}
	return strings.TrimPrefix(text, "&")
}

func attributeFields(a *bgp.LsAttribute) []string {
	fields := map[string]string{}
	number := func(name string, value *uint32) {
		if value != nil {
			fields[name] = fmt.Sprint(*value)
		}
	}
	if a.Node.Name != nil {
		fields["name"] = *a.Node.Name
	}
	if a.Node.SrCapabilties != nil {
		for _, block := range a.Node.SrCapabilties.Ranges {
			fields["srgb"] += fmt.Sprintf("%d+%d ", block.Begin, block.End-block.Begin)
		}
	}
	if a.Node.SrAlgorithms != nil {
		fields["algorithms"] = fmt.Sprint(*a.Node.SrAlgorithms)
	}
	number("admin", a.Link.AdminGroup)
	number("te", a.Link.DefaultTEMetric)
	number("igp", a.Link.IGPMetric)
	number("adjacency", a.Link.SrAdjacencySID)
	if a.Link.Bandwidth != nil {
		fields["bandwidth"] = fmt.Sprint(uint64(*a.Link.Bandwidth))
	}
	if a.Link.UnreservedBandwidth != nil {
		fields["unreserved"] = fmt.Sprint(uint64(a.Link.UnreservedBandwidth[7]))
	}
	if a.Link.Srv6EndXSID != nil {
		fields["endx"] = fmt.Sprint(a.Link.Srv6EndXSID.EndpointBehavior, a.Link.Srv6EndXSID.SIDs)
	}
	number("prefix-sid", a.Prefix.SrPrefixSID)
	if a.Srv6SID.Srv6EndpointBehavior != nil {
		fields["behavior"] = fmt.Sprint(a.Srv6SID.Srv6EndpointBehavior.EndpointBehavior)
	}
	var sorted []string
	for name, value := range fields {
		sorted = append(sorted, name+"="+strings.TrimSpace(value))
	}
	sort.Strings(sorted)
	return sorted
}
