package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

type question struct {
	Kind string `json:"kind"`
	Hex  string `json:"hex"`
}

type answer struct {
	Error string `json:"error,omitempty"`
	// What GoBGP writes for what it read.
	Hex       string           `json:"hex,omitempty"`
	Attribute *bgp.LsAttribute `json:"attribute,omitempty"`
	Nlri      any              `json:"nlri,omitempty"`
}

// differ answers each line of its input, an attribute's value or an NLRI in hex, with what GoBGP makes of it.
func differ() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fail(err)
		}
		bytes, err := hex.DecodeString(q.Hex)
		if err != nil {
			fail(err)
		}
		a := answer{}
		if q.Kind == "attribute" {
			a = readAttribute(bytes)
		} else {
			a = readNlri(bytes)
		}
		text, err := json.Marshal(a)
		if err != nil {
			text = fmt.Appendf(nil, `{"error":%q}`, err.Error())
		}
		out.Write(text)
		out.WriteByte('\n')
	}
}

func readAttribute(value []byte) answer {
	header := []byte{0x90, 29, byte(len(value) >> 8), byte(len(value))}
	attribute := &bgp.PathAttributeLs{}
	if err := attribute.DecodeFromBytes(append(header, value...)); err != nil {
		return answer{Error: err.Error()}
	}
	written, err := attribute.Serialize()
	if err != nil {
		return answer{Error: err.Error()}
	}
	skip := 3
	if written[0]&0x10 != 0 {
		skip = 4
	}
	return answer{Hex: hex.EncodeToString(written[skip:]), Attribute: attribute.Extract()}
}

func readNlri(value []byte) answer {
	reach := []byte{0x90, 14, 0, 0, 0x40, 0x04, 71, 4, 192, 0, 2, 1, 0}
	reach = append(reach, value...)
	length := len(reach) - 4
	reach[2], reach[3] = byte(length>>8), byte(length)
	attribute := &bgp.PathAttributeMpReachNLRI{}
	if err := attribute.DecodeFromBytes(reach); err != nil {
		return answer{Error: err.Error()}
	}
	nlri := attribute.Value[0].NLRI
	written, err := nlri.Serialize()
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Hex: hex.EncodeToString(written), Nlri: describe(nlri.(*bgp.LsAddrPrefix))}
}

// described is an NLRI by its fields; those that the type does not have are left out.
type described struct {
	Type       uint16                 `json:"type"`
	Protocol   uint8                  `json:"protocol"`
	Identifier string                 `json:"identifier"`
	Nodes      []bgp.LsNodeDescriptor `json:"nodes"`
	Link       *linkFields            `json:"link,omitempty"`
	Prefix     string                 `json:"prefix,omitempty"`
	RouteType  uint8                  `json:"routeType,omitempty"`
	Topologies []uint16               `json:"topologies,omitempty"`
	SIDs       []string               `json:"sids,omitempty"`
}

type linkFields struct {
	Local             *uint32 `json:"local,omitempty"`
	Remote            *uint32 `json:"remote,omitempty"`
	InterfaceAddrIPv4 string  `json:"interfaceIpv4"`
	NeighborAddrIPv4  string  `json:"neighborIpv4"`
	InterfaceAddrIPv6 string  `json:"interfaceIpv6"`
	NeighborAddrIPv6  string  `json:"neighborIpv6"`
}

func describe(n *bgp.LsAddrPrefix) described {
	d := described{Type: uint16(n.Type)}
	head := func(l bgp.LsNLRI) {
		d.Protocol, d.Identifier = uint8(l.ProtocolID), fmt.Sprint(l.Identifier)
	}
	node := func(tlv bgp.LsTLVInterface) {
		d.Nodes = append(d.Nodes, *tlv.(*bgp.LsTLVNodeDescriptor).Extract())
	}
	descriptors := func(tlvs []bgp.LsTLVInterface, ipv6 bool) {
		prefix := &bgp.LsPrefixDescriptor{}
		prefix.ParseTLVs(tlvs, ipv6)
		for _, reachability := range prefix.IPReachability {
			d.Prefix = reachability.String()
		}
		d.RouteType = uint8(prefix.OSPFRouteType)
		topologies(&d, tlvs)
	}
	switch v := n.NLRI.(type) {
	case *bgp.LsNodeNLRI:
		head(v.LsNLRI)
		node(v.LocalNodeDesc)
	case *bgp.LsLinkNLRI:
		head(v.LsNLRI)
		node(v.LocalNodeDesc)
		node(v.RemoteNodeDesc)
		link := &bgp.LsLinkDescriptor{}
		link.ParseTLVs(v.LinkDesc)
		d.Link = &linkFields{
			link.LinkLocalID, link.LinkRemoteID,
			address(link.InterfaceAddrIPv4), address(link.NeighborAddrIPv4),
			address(link.InterfaceAddrIPv6), address(link.NeighborAddrIPv6),
		}
		topologies(&d, v.LinkDesc)
	case *bgp.LsPrefixV4NLRI:
		head(v.LsNLRI)
		node(v.LocalNodeDesc)
		descriptors(v.PrefixDesc, false)
	case *bgp.LsPrefixV6NLRI:
		head(v.LsNLRI)
		node(v.LocalNodeDesc)
		descriptors(v.PrefixDesc, true)
	case *bgp.LsSrv6SIDNLRI:
		head(v.LsNLRI)
		node(v.LocalNodeDesc)
		d.SIDs = v.Srv6SIDInfo.(*bgp.LsTLVSrv6SIDInfo).Strings()
		if v.MultiTopoID != nil {
			topologies(&d, []bgp.LsTLVInterface{v.MultiTopoID})
		}
	}
	return d
}

func topologies(d *described, tlvs []bgp.LsTLVInterface) {
	for _, tlv := range tlvs {
		if topology, is := tlv.(*bgp.LsTLVMultiTopoID); is {
			d.Topologies = append(d.Topologies, topology.MultiTopoIDs...)
		}
	}
}
