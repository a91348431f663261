// An in-memory SNMP agent for benchmarks: v2c and one v3 user (SHA-256, AES-128), many devices of one table each.
// Answers are made of varbinds encoded beforehand, so that the load target is never the bottleneck.
package main

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"net"
	"os"
	"sort"
	"time"
)

type object struct {
	name    []byte // content of the OBJECT IDENTIFIER
	arcs    []uint32
	varbind []byte // the whole SEQUENCE
}

type device struct {
	objects  []object
	position map[string]int
	engineID []byte
	authKey  []byte
	privKey  []byte
	started  time.Time
}

func tlv(tag byte, parts ...[]byte) []byte {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	out := append(make([]byte, 0, length+4), tag)
	switch {
	case length < 0x80:
		out = append(out, byte(length))
	case length < 0x100:
		out = append(out, 0x81, byte(length))
	default:
		out = append(out, 0x82, byte(length>>8), byte(length))
	}
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}

func unsigned(tag byte, value uint64) []byte {
	var content [9]byte
	binary.BigEndian.PutUint64(content[1:], value)
	at := 0
	for at < 8 && content[at] == 0 && content[at+1] < 0x80 {
		at++
	}
	return tlv(tag, content[at:])
}

func encodeArcs(arcs []uint32) []byte {
	out := []byte{byte(arcs[0]*40 + arcs[1])}
	for _, arc := range arcs[2:] {
		started := false
		for shift := 28; shift > 0; shift -= 7 {
			digit := byte(arc>>shift) & 0x7f
			if digit != 0 || started {
				started = true
				out = append(out, digit|0x80)
			}
		}
		out = append(out, byte(arc)&0x7f)
	}
	return out
}

func decodeArcs(name []byte) []uint32 {
	if len(name) == 0 {
		return nil
	}
	out := []uint32{uint32(name[0]) / 40, uint32(name[0]) % 40}
	arc := uint32(0)
	for _, digit := range name[1:] {
		arc = arc<<7 | uint32(digit&0x7f)
		if digit < 0x80 {
			out = append(out, arc)
			arc = 0
		}
	}
	return out
}

func less(left, right []uint32) bool {
	for at := 0; at < len(left) && at < len(right); at++ {
		if left[at] != right[at] {
			return left[at] < right[at]
		}
	}
	return len(left) < len(right)
}

func (d *device) add(arcs []uint32, value []byte) {
	name := encodeArcs(arcs)
	d.objects = append(d.objects, object{name, arcs, tlv(0x30, tlv(0x06, name), value)})
}

func (d *device) finish() {
	sort.Slice(d.objects, func(i, j int) bool { return less(d.objects[i].arcs, d.objects[j].arcs) })
	d.position = make(map[string]int, len(d.objects))
	for at, one := range d.objects {
		d.position[string(one.name)] = at
	}
}

// after gives the place of the first object behind the name.
func (d *device) after(name []byte) int {
	if at, found := d.position[string(name)]; found {
		return at + 1
	}
	arcs := decodeArcs(name)
	return sort.Search(len(d.objects), func(at int) bool { return less(arcs, d.objects[at].arcs) })
}

// element takes one value off the front: its tag, its content and what follows.
func element(data []byte) (byte, []byte, []byte, bool) {
	if len(data) < 2 {
		return 0, nil, nil, false
	}
	length, at := int(data[1]), 2
	if length >= 0x80 {
		count := length & 0x7f
		if count > 2 || len(data) < 2+count {
			return 0, nil, nil, false
		}
		length = 0
		for _, digit := range data[2 : 2+count] {
			length = length<<8 | int(digit)
		}
		at += count
	}
	if len(data) < at+length {
		return 0, nil, nil, false
	}
	return data[0], data[at : at+length], data[at+length:], true
}

func integer(content []byte) int {
	value := 0
	for _, digit := range content {
		value = value<<8 | int(digit)
	}
	return value
}

const maxMessage = 60000

// respond answers a Get, GetNext or GetBulk PDU.
func (d *device) respond(pdu []byte) []byte {
	tag, body, _, ok := element(pdu)
	if !ok {
		return nil
	}
	_, id, rest, _ := element(body)
	_, first, rest, _ := element(rest)
	_, second, rest, _ := element(rest)
	_, list, _, ok := element(rest)
	if !ok {
		return nil
	}
	var names [][]byte
	for len(list) > 0 {
		_, varbind, following, ok := element(list)
		if !ok {
			return nil
		}
		_, name, _, _ := element(varbind)
		names = append(names, name)
		list = following
	}
	out := make([]byte, 0, 2048)
	end := func(name []byte) { out = append(out, tlv(0x30, tlv(0x06, name), []byte{0x82, 0})...) }
	if tag == 0xa0 {
		for _, name := range names {
			if at, found := d.position[string(name)]; found {
				out = append(out, d.objects[at].varbind...)
			} else {
				out = append(out, tlv(0x30, tlv(0x06, name), []byte{0x80, 0})...)
			}
		}
		return tlv(0xa2, tlv(2, id), []byte{2, 1, 0, 2, 1, 0}, tlv(0x30, out))
	}
	repeaters, rounds := 0, 1
	if tag == 0xa5 {
		repeaters, rounds = integer(first), integer(second)
	} else {
		repeaters = len(names)
	}
	places := make([]int, len(names))
	for at, name := range names {
		places[at] = d.after(name)
	}
	step := func(at int) bool {
		if places[at] >= len(d.objects) {
			end(names[at])
			return false
		}
		out = append(out, d.objects[places[at]].varbind...)
		places[at]++
		return true
	}
	for at := 0; at < repeaters && at < len(names); at++ {
		step(at)
	}
	for round := 0; round < rounds && repeaters < len(names); round++ {
		alive := false
		for at := repeaters; at < len(names); at++ {
			alive = step(at) || alive
			if len(out) > maxMessage {
				return tlv(0xa2, tlv(2, id), []byte{2, 1, 0, 2, 1, 0}, tlv(0x30, out))
			}
		}
		if !alive {
			break
		}
	}
	return tlv(0xa2, tlv(2, id), []byte{2, 1, 0, 2, 1, 0}, tlv(0x30, out))
}

func (d *device) handle(message []byte) []byte {
	_, body, _, ok := element(message)
	if !ok {
		return nil
	}
	_, version, rest, _ := element(body)
	if integer(version) == 3 {
		return d.handleV3(message, rest)
	}
	_, community, pdu, _ := element(rest)
	response := d.respond(pdu)
	if response == nil {
		return nil
	}
	return tlv(0x30, tlv(2, version), tlv(4, community), response)
}

const (
	userName     = "mon"
	authPassword = "authpass1"
	privPassword = "privpass1"
	macBytes     = 24
)

func localize(password string, engineID []byte) []byte {
	stretched := bytes.Repeat([]byte(password), 1<<20/len(password)+1)[:1<<20]
	key := sha256.Sum256(stretched)
	local := sha256.Sum256(append(append(append([]byte{}, key[:]...), engineID...), key[:]...))
	return local[:]
}

func (d *device) handleV3(message, rest []byte) []byte {
	_, header, rest, _ := element(rest)
	_, security, data, ok := element(rest)
	if !ok {
		return nil
	}
	_, messageID, header, _ := element(header)
	_, _, header, _ = element(header)
	_, flags, _, _ := element(header)
	_, parameters, _, ok := element(security)
	if !ok || len(flags) != 1 {
		return nil
	}
	_, engineID, parameters, _ := element(parameters)
	_, boots, parameters, _ := element(parameters)
	_, clock, parameters, _ := element(parameters)
	_, user, parameters, _ := element(parameters)
	_, mac, parameters, _ := element(parameters)
	_, salt, _, ok := element(parameters)
	if !ok {
		return nil
	}
	if !bytes.Equal(engineID, d.engineID) {
		_, scoped, _, _ := element(data)
		_, _, scoped, _ = element(scoped)
		_, _, pdu, _ := element(scoped)
		_, body, _, _ := element(pdu)
		_, id, _, _ := element(body)
		name := encodeArcs([]uint32{1, 3, 6, 1, 6, 3, 15, 1, 1, 4, 0})
		report := tlv(0xa8, tlv(2, id), []byte{2, 1, 0, 2, 1, 0}, tlv(0x30, tlv(0x30, tlv(0x06, name), unsigned(0x41, 1))))
		return d.seal(messageID, 0, nil, report)
	}
	if string(user) != userName || flags[0]&3 != 3 || len(mac) != macBytes || len(salt) != 8 {
		return nil
	}
	at := bytes.Index(message, mac)
	received := append([]byte{}, mac...)
	copy(message[at:at+macBytes], make([]byte, macBytes))
	if !hmac.Equal(d.mac(message), received) {
		return nil
	}
	_, encrypted, _, _ := element(data)
	d.crypt(encrypted, integer(boots), integer(clock), salt, false)
	_, scoped, _, ok := element(encrypted)
	if !ok {
		return nil
	}
	_, _, scoped, _ = element(scoped)
	_, _, pdu, _ := element(scoped)
	response := d.respond(pdu)
	if response == nil {
		return nil
	}
	return d.seal(messageID, 3, user, response)
}

func (d *device) mac(message []byte) []byte {
	hash := hmac.New(sha256.New, d.authKey)
	hash.Write(message)
	return hash.Sum(nil)[:macBytes]
}

func (d *device) crypt(data []byte, boots, clock int, salt []byte, encrypt bool) {
	block, _ := aes.NewCipher(d.privKey)
	iv := make([]byte, 16)
	binary.BigEndian.PutUint32(iv, uint32(boots))
	binary.BigEndian.PutUint32(iv[4:], uint32(clock))
	copy(iv[8:], salt)
	if encrypt {
		cipher.NewCFBEncrypter(block, iv).XORKeyStream(data, data)
	} else {
		cipher.NewCFBDecrypter(block, iv).XORKeyStream(data, data)
	}
}

var salts uint64

func (d *device) seal(messageID []byte, flags byte, user, pdu []byte) []byte {
	clock := int(time.Since(d.started).Seconds())
	scoped := tlv(0x30, tlv(4, d.engineID), tlv(4), pdu)
	var salt, mac []byte
	if flags == 3 {
		salts++
		salt = binary.BigEndian.AppendUint64(nil, salts)
		mac = make([]byte, macBytes)
		d.crypt(scoped, 1, clock, salt, true)
		scoped = tlv(4, scoped)
	}
	parameters := tlv(0x30, tlv(4, d.engineID), unsigned(2, 1), unsigned(2, uint64(clock)), tlv(4, user), tlv(4, mac), tlv(4, salt))
	header := tlv(0x30, tlv(2, messageID), unsigned(2, 65507), tlv(4, []byte{flags}), unsigned(2, 3))
	message := tlv(0x30, unsigned(2, 3), header, tlv(4, parameters), scoped)
	if flags == 3 {
		at := len(message) - len(scoped) - len(tlv(4, salt)) - macBytes
		copy(message[at:at+macBytes], d.mac(message))
	}
	return message
}

func main() {
	devices := flag.Int("devices", 50, "devices, on 127.0.1.1 and up")
	interfaces := flag.Int("interfaces", 500, "rows of each table")
	port := flag.Int("port", 16161, "UDP port")
	flag.Parse()
	var authKey, privKey []byte
	for number := 1; number <= *devices; number++ {
		engineID := []byte{0x80, 0, 0, 0, 4, byte(number >> 8), byte(number)}
		authKey, privKey = localize(authPassword, engineID), localize(privPassword, engineID)[:16]
		d := &device{engineID: engineID, authKey: authKey, privKey: privKey, started: time.Now()}
		d.add([]uint32{1, 3, 6, 1, 2, 1, 1, 3, 0}, unsigned(0x43, 1234567))
		for row := 1; row <= *interfaces; row++ {
			column := func(number uint32) []uint32 {
				return []uint32{1, 3, 6, 1, 2, 1, 31, 1, 1, 1, number, uint32(row)}
			}
			d.add(column(1), tlv(4, []byte(fmt.Sprintf("eth%d", row))))
			for _, counter := range []uint32{6, 7, 8, 9, 10, 11, 12, 13} {
				d.add(column(counter), unsigned(0x46, uint64(number)<<44+uint64(row)<<24+uint64(counter)*65537))
			}
		}
		d.finish()
		address := &net.UDPAddr{IP: net.IPv4(127, 0, 1, byte(number)), Port: *port}
		socket, err := net.ListenUDP("udp4", address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = socket.SetReadBuffer(4 << 20)
		go func() {
			buffer := make([]byte, 65536)
			for {
				length, from, err := socket.ReadFromUDPAddrPort(buffer)
				if err != nil {
					return
				}
				if answer := d.handle(buffer[:length]); answer != nil {
					_, _ = socket.WriteToUDPAddrPort(answer, from)
				}
			}
		}()
	}
	fmt.Println("ready")
	// Ends with the one who started it.
	_, _ = os.Stdin.Read(make([]byte, 1))
}
