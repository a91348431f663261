import { createServer, request as httpRequest } from 'node:http';
import { parseDeliveryMessage } from '../../../core/delivery-message.ts';
import { openDelivery } from '../../../store/delivery-queue.ts';
import { recordIds } from './records.ts';

/** What a queue has accepted, as its own answers say: the truth that counters are held against. */
export interface AcceptLog {
  readonly endpoint: string;
  /** The record numbers of the messages accepted so far, each message once however often it was sent. */
  accepted(): Promise<number[]>;
  stop(): Promise<void>;
}

/** Stands between everyone and SQS, passes every byte on, and keeps each SendMessage that was answered 200. */
export async function startAcceptLog(upstream: string): Promise<AcceptLog> {
  const bodies = new Map<string, string>();
  const { hostname, port } = new URL(upstream);
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      const body = Buffer.concat(parts);
      const isSend = incoming.headers['x-amz-target'] === 'AmazonSQS.SendMessage';
      const passed = httpRequest(
        { hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers },
        (answer) => {
          if (isSend && answer.statusCode === 200) keep(body);
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        },
      );
      passed.on('error', () => outgoing.destroy());
      outgoing.on('close', () => passed.destroy());
      passed.end(body);
    });
  });
  const keep = (body: Buffer) => {
    const { MessageBody } = JSON.parse(body.toString('utf8')) as { MessageBody: string };
    bodies.set(parseDeliveryMessage(MessageBody).id, MessageBody);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    async accepted() {
      const ids: number[] = [];
      for (const body of bodies.values()) {
        for (const request of await openDelivery(parseDeliveryMessage(body))) {
          ids.push(...recordIds(Buffer.from(request.body)));
        }
      }
      return ids;
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
