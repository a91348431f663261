package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// A receiver that costs as little as one can, so that what is measured is who sends: net/http takes as much of a core as
// the fastest sender, and on two cores the receiver would be the bound of every run. One thread, one read and one write a
// request; every body is counted and digested.
type receiver struct {
	epoll, listener int
	latency         time.Duration
	// Each answer has an x-request-id of its own.
	distinct    bool
	connections map[int]*connection
	// Requests that wait for their answer, in the order of their times, since all wait equally long.
	waiting  []waitingAnswer
	requests int64
	length   int64
	// The sum of the bodies' CRC-32: another process can work out what it has to be.
	digest  uint64
	senders int64
	// Of the last round of statistics: which connections have been counted in it.
	round    int64
	answer   []byte
	answerAt int64
	answers  uint64
}

type connection struct {
	descriptor int
	buffer     []byte
	filled     int
	isClosed   bool
	countedIn  int64
}

type waitingAnswer struct {
	due  time.Time
	from *connection
}

const headLimit = 65_536

func sink(listen string, latency time.Duration, distinct bool) {
	address, err := net.ResolveTCPAddr("tcp4", listen)
	must(err)
	descriptor, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	must(err)
	local := &syscall.SockaddrInet4{Port: address.Port}
	copy(local.Addr[:], address.IP.To4())
	must(syscall.Bind(descriptor, local))
	must(syscall.Listen(descriptor, 1_024))
	bound, err := syscall.Getsockname(descriptor)
	must(err)
	epoll, err := syscall.EpollCreate1(0)
	must(err)
	r := &receiver{
		epoll: epoll, listener: descriptor, latency: latency,
		distinct: distinct, round: 1, connections: map[int]*connection{},
	}
	r.watch(descriptor)
	fmt.Printf("%s:%d\n", net.IP(local.Addr[:]), bound.(*syscall.SockaddrInet4).Port)
	events := make([]syscall.EpollEvent, 256)
	for {
		for _, event := range events[:r.wait(events)] {
			if int(event.Fd) == r.listener {
				r.accept()
			} else {
				r.read(r.connections[int(event.Fd)])
			}
		}
		r.answerDue()
	}
}

// Waits for bytes or for the next answer that is due, to the nanosecond: epoll_wait would round a millisecond up to two.
func (r *receiver) wait(events []syscall.EpollEvent) int {
	const epollPwait2 = 441
	var timeout *syscall.Timespec
	if len(r.waiting) > 0 {
		until := syscall.NsecToTimespec(max(0, time.Until(r.waiting[0].due)).Nanoseconds())
		timeout = &until
	}
	count, _, failure := syscall.Syscall6(epollPwait2, uintptr(r.epoll), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), uintptr(unsafe.Pointer(timeout)), 0, 0)
	if failure == syscall.EINTR {
		return 0
	}
	if failure != 0 {
		panic(failure)
	}
	return int(count)
}

func (r *receiver) watch(descriptor int) {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(descriptor)}
	must(syscall.EpollCtl(r.epoll, syscall.EPOLL_CTL_ADD, descriptor, &event))
}

func (r *receiver) accept() {
	descriptor, _, err := syscall.Accept4(r.listener, syscall.SOCK_NONBLOCK)
	if err != nil {
		return
	}
	must(syscall.SetsockoptInt(descriptor, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1))
	r.connections[descriptor] = &connection{descriptor: descriptor, buffer: make([]byte, headLimit)}
	r.watch(descriptor)
}

func (r *receiver) read(from *connection) {
	count, err := syscall.Read(from.descriptor, from.buffer[from.filled:])
	if err == syscall.EAGAIN || err == syscall.EINTR {
		return
	}
	if err != nil || count == 0 {
		r.close(from)
		return
	}
	from.filled += count
	used := 0
	for {
		size := r.take(from, from.buffer[used:from.filled])
		if size == 0 {
			break
		}
		used += size
	}
	if from.isClosed {
		return
	}
	from.filled = copy(from.buffer, from.buffer[used:from.filled])
	if from.filled == len(from.buffer) {
		from.buffer = append(from.buffer, make([]byte, len(from.buffer))...)
	}
}

// Takes one request off the front of what has arrived; returns how long it was, or 0 when there is none as a whole.
func (r *receiver) take(from *connection, arrived []byte) int {
	end := bytes.Index(arrived, []byte("\r\n\r\n"))
	if end < 0 {
		return 0
	}
	head := arrived[:end]
	length, err := contentLength(head)
	if err != nil {
		r.write(from, []byte("HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n"))
		r.close(from)
		return 0
	}
	size := end + 4 + length
	if len(arrived) < size {
		return 0
	}
	if bytes.HasPrefix(head, []byte("GET /stats ")) {
		r.write(from, r.stats())
		r.requests, r.length, r.digest, r.senders = 0, 0, 0, 0
		r.round++
		return size
	}
	if bytes.HasPrefix(head, []byte("GET /stats?keep ")) {
		r.write(from, r.stats())
		return size
	}
	now := time.Now()
	if from.countedIn != r.round {
		from.countedIn = r.round
		r.senders++
	}
	r.requests++
	r.length += int64(length)
	r.digest += uint64(crc32.ChecksumIEEE(arrived[end+4 : size]))
	if r.latency > 0 {
		r.waiting = append(r.waiting, waitingAnswer{now.Add(r.latency), from})
	} else {
		r.write(from, r.noContent(now))
	}
	return size
}

// The length of the body; every client here says it. An error for a body that is framed otherwise.
func contentLength(head []byte) (int, error) {
	length := 0
	for len(head) > 0 {
		line := head
		if end := bytes.IndexByte(head, '\n'); end >= 0 {
			line, head = head[:end], head[end+1:]
		} else {
			head = nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")) {
			parsed, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || parsed < 0 {
				return 0, fmt.Errorf("no length: %q", value)
			}
			length = parsed
		} else if len(name) == len("Transfer-Encoding") && bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			return 0, fmt.Errorf("not read here: %q", line)
		}
	}
	return length, nil
}

func (r *receiver) answerDue() {
	now := time.Now()
	due := 0
	for due < len(r.waiting) && !r.waiting[due].due.After(now) {
		if to := r.waiting[due].from; !to.isClosed {
			r.write(to, r.noContent(now))
		}
		due++
	}
	r.waiting = r.waiting[due:]
}

// The answer that net/http gives, whose date is another each second, and whose request id is another each time if asked for.
func (r *receiver) noContent(now time.Time) []byte {
	if second := now.Unix(); second != r.answerAt {
		r.answerAt = second
		r.answer = fmt.Appendf(nil, "HTTP/1.1 204 No Content\r\nDate: %s\r\n", now.UTC().Format(http.TimeFormat))
		if r.distinct {
			r.answer = append(r.answer, "X-Request-Id: 0000000000000000\r\n"...)
		}
		r.answer = append(r.answer, "\r\n"...)
	}
	if r.distinct {
		r.answers++
		for digit, left := len(r.answer)-5, r.answers; left > 0; digit, left = digit-1, left>>4 {
			r.answer[digit] = "0123456789abcdef"[left&15]
		}
	}
	return r.answer
}

func (r *receiver) stats() []byte {
	body := fmt.Sprintf(`{"requests":%d,"bytes":%d,"digest":"%016x","connections":%d}`,
		r.requests, r.length, r.digest, r.senders)
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// An answer is far shorter than what a socket takes at once.
func (r *receiver) write(to *connection, answer []byte) {
	if _, err := syscall.Write(to.descriptor, answer); err != nil {
		r.close(to)
	}
}

func (r *receiver) close(which *connection) {
	if which.isClosed {
		return
	}
	which.isClosed = true
	delete(r.connections, which.descriptor)
	_ = syscall.Close(which.descriptor)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
