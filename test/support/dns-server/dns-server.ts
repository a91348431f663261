import { createSocket } from 'node:dgram';

export interface DnsServer {
  /** `address:port`, as GRATICULE_WEBHOOK_DNS takes it. */
  readonly address: string;
  stop(): void;
}

/**
 * A name server on loopback UDP (RFC 1035). `answer` is asked for the addresses of each query, so that a name can mean
 * something else the second time; an empty answer is NXDOMAIN.
 */
export async function startDnsServer(
  answer: (name: string, type: 'A' | 'AAAA') => readonly string[],
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const question = query.subarray(12, at + 5);
    const type = query.readUInt16BE(at + 1) === 28 ? 'AAAA' : 'A';
    const addresses = answer(labels.join('.'), type);
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) => {
      const data = type === 'A' ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
      const fixed = Buffer.from([0xc0, 12, 0, type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
      return Buffer.concat([fixed, data]);
    });
    socket.send(Buffer.concat([header, question, ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${socket.address().port}`, stop: () => socket.close() };
}

/** The sixteen bytes of an address written with all its groups or with one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const middle = new Array<number>(8 - left.length - right.length).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...left, ...middle, ...right].entries())
    bytes.writeUInt16BE(group, index * 2);
  return bytes;
}
