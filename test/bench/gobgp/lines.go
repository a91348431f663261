package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// linkState gives the NLRIs announced by a message, and its attribute.
func linkState(m *bgp.BGPMessage) (reach []bgp.PathNLRI, attribute *bgp.PathAttributeLs) {
	for _, path := range m.Body.(*bgp.BGPUpdate).PathAttributes {
		switch a := path.(type) {
		case *bgp.PathAttributeMpReachNLRI:
			reach = a.Value
		case *bgp.PathAttributeLs:
			attribute = a
		}
	}
	return
}

// lines says of each object what both sides know of it, in one canonical line: see test/bench/link-state/object-line.ts.
func lines(m *bgp.BGPMessage, counts map[string]int) []string {
	reach, attribute := linkState(m)
	var all []string
	for _, path := range reach {
		nlri := path.NLRI.(*bgp.LsAddrPrefix)
		counts[fmt.Sprint(uint16(nlri.Type))]++
		fields := nlriFields(nlri)
		if attribute != nil {
			fields = append(fields, attributeFields(attribute)...)
		}
		all = append(all, strings.Join(fields, "|")+"\n")
	}
	return all
}

func nlriFields(nlri *bgp.LsAddrPrefix) []string {
	fields := []string{fmt.Sprint(uint16(nlri.Type))}
	head := func(l bgp.LsNLRI) {
		fields = append(fields, fmt.Sprint(uint8(l.ProtocolID)), fmt.Sprint(l.Identifier))
	}
	node := func(tlv bgp.LsTLVInterface) {
		d := tlv.(*bgp.LsTLVNodeDescriptor).Extract()
		area := "-"
		for _, sub := range tlv.(*bgp.LsTLVNodeDescriptor).SubTLVs {
			if a, is := sub.(*bgp.LsTLVOspfAreaID); is {
				area = fmt.Sprintf("%d.%d.%d.%d", a.AreaID>>24, a.AreaID>>16&255, a.AreaID>>8&255, a.AreaID&255)
			}
		}
		fields = append(fields, fmt.Sprint(d.Asn), area, d.IGPRouterID)
	}
	prefix := func(tlvs []bgp.LsTLVInterface, ipv6 bool) {
		d := &bgp.LsPrefixDescriptor{}
		d.ParseTLVs(tlvs, ipv6)
		for _, reachability := range d.IPReachability {
			fields = append(fields, reachability.String())
		}
	}
	switch n := nlri.NLRI.(type) {
	case *bgp.LsNodeNLRI:
		head(n.LsNLRI)
		node(n.LocalNodeDesc)
	case *bgp.LsLinkNLRI:
		head(n.LsNLRI)
		node(n.LocalNodeDesc)
		node(n.RemoteNodeDesc)
		link := &bgp.LsLinkDescriptor{}
		link.ParseTLVs(n.LinkDesc)
		fields = append(fields, address(link.InterfaceAddrIPv4), address(link.NeighborAddrIPv4))
	case *bgp.LsPrefixV4NLRI:
		head(n.LsNLRI)
		node(n.LocalNodeDesc)
		prefix(n.PrefixDesc, false)
	case *bgp.LsPrefixV6NLRI:
		head(n.LsNLRI)
		node(n.LocalNodeDesc)
		prefix(n.PrefixDesc, true)
	case *bgp.LsSrv6SIDNLRI:
		head(n.LsNLRI)
		node(n.LocalNodeDesc)
		fields = append(fields, n.Srv6SIDInfo.(*bgp.LsTLVSrv6SIDInfo).Strings()...)
	}
	return fields
}

func address(value any) string {
	text := fmt.Sprint(value)
	if text == "<nil>" || text == "invalid IP" {
		return "-"
	}
	return strings.TrimPrefix(text, "&")
}

// attributeFields gives NAME=VALUE of each member, sorted.
func attributeFields(attribute *bgp.PathAttributeLs) []string {
	a := attribute.Extract()
	fields := map[string]string{}
	number := func(name string, value *uint32) {
		if value != nil {
			fields[name] = fmt.Sprint(*value)
		}
	}
	bandwidth := func(name string, value *float32) {
		if value != nil {
			fields[name] = fmt.Sprint(uint64(*value))
		}
	}
	if a.Node.Name != nil {
		fields["name"] = *a.Node.Name
	}
	if f := a.Node.Flags; f != nil {
		for _, set := range []bool{f.Overload, f.Attached, f.External, f.ABR, f.Router, f.V6} {
			if set {
				fields["flags"] += "1 "
			} else {
				fields["flags"] += "0 "
			}
		}
	}
	if a.Node.IsisArea != nil {
		fields["area"] = fmt.Sprintf("%x", *a.Node.IsisArea)
	}
	if a.Node.LocalRouterID != nil {
		fields["router"] = a.Node.LocalRouterID.String()
	}
	if a.Link.RemoteRouterID != nil {
		fields["remote-router"] = a.Link.RemoteRouterID.String()
	}
	if a.Node.SrCapabilties != nil {
		fields["srgb"] = labelRanges(a.Node.SrCapabilties.Ranges)
	}
	if a.Node.SrLocalBlock != nil {
		fields["srlb"] = labelRanges(a.Node.SrLocalBlock.Ranges)
	}
	if a.Node.SrAlgorithms != nil {
		fields["algorithms"] = strings.Trim(fmt.Sprint(*a.Node.SrAlgorithms), "[]")
	}
	number("admin", a.Link.AdminGroup)
	bandwidth("bandwidth", a.Link.Bandwidth)
	bandwidth("reservable", a.Link.ReservableBandwidth)
	if a.Link.UnreservedBandwidth != nil {
		for _, one := range a.Link.UnreservedBandwidth {
			fields["unreserved"] += fmt.Sprintf("%d ", uint64(one))
		}
	}
	number("te", a.Link.DefaultTEMetric)
	number("igp", a.Link.IGPMetric)
	if a.Link.Srlgs != nil {
		fields["srlg"] = strings.Trim(fmt.Sprint(*a.Link.Srlgs), "[]")
	}
	if a.Link.UnidirectionalLinkDelay != nil {
		fields["delay"] = fmt.Sprint(a.Link.UnidirectionalLinkDelay.Delay)
	}
	if d := a.Link.MinMaxUnidirectionalLinkDelay; d != nil {
		fields["delays"] = fmt.Sprint(d.MinDelay, d.MaxDelay)
	}
	for _, tlv := range attribute.TLVs {
		// Extract gives only the last.
		if sid, is := tlv.(*bgp.LsTLVAdjacencySID); is {
			fields["adjacency"] += fmt.Sprintf("%d:%d ", sid.Weight, sid.SID)
		}
	}
	if x := a.Link.Srv6EndXSID; x != nil {
		for _, sid := range x.SIDs {
			s := x.Srv6SIDStructure
			fields["endx"] = fmt.Sprint(x.EndpointBehavior, x.Algorithm, x.Weight, " ", sid, " ", structure(&s))
		}
	}
	for _, sid := range a.Prefix.SrPrefixSIDs {
		fields["prefix-sid"] += fmt.Sprintf("%d:%d ", sid.Algorithm, sid.SID)
	}
	if b := a.Srv6SID.Srv6EndpointBehavior; b != nil {
		fields["behavior"] = fmt.Sprint(b.EndpointBehavior, b.Flags, b.Algorithm)
	}
	if s := a.Srv6SID.Srv6SIDStructure; s != nil {
		fields["structure"] = structure(s)
	}
	var sorted []string
	for name, value := range fields {
		sorted = append(sorted, name+"="+strings.TrimSpace(value))
	}
	sort.Strings(sorted)
	return sorted
}

func labelRanges(all []bgp.LsSrRange) (text string) {
	for _, block := range all {
		text += fmt.Sprintf("%d+%d ", block.Begin, block.End-block.Begin)
	}
	return text
}

func structure(s *bgp.LsSrv6SIDStructure) string {
	return fmt.Sprintf("%d/%d/%d/%d", s.LocalBlock, s.LocalNode, s.LocalFunc, s.LocalArg)
}
