import type { FailedRequest } from './delivery-run.ts';

/**
 * One structured line for each request that was not delivered. Written here and not by the logger, whose ten
 * microseconds a line would halve the sender's rate when a receiver refuses everything. The lines hold what the sender
 * made up itself: ids, counts, reasons; never a header, a body or an answer.
 */
export class DeliveryLog {
  private lines: string[] = [];
  private readonly write: (text: string) => void;

  constructor(write: (text: string) => void = (text) => process.stdout.write(text)) {
    this.write = write;
  }

  add(failure: FailedRequest, at: string): void {
    this.lines.push(
      JSON.stringify({
        level: 'WARN',
        message: failure.records === 1 ? 'record not delivered' : 'records not delivered',
        timestamp: at,
        service: 'graticule',
        'message-id': failure.messageId,
        request: failure.request,
        'device-id': failure.deviceId,
        records: failure.records,
        reason: failure.reason,
        'response-code': failure.responseCode,
        detail: failure.detail,
      }),
    );
    if (this.lines.length >= 256) this.flush();
  }

  flush(): void {
    if (this.lines.length === 0) return;
    this.write(`${this.lines.join('\n')}\n`);
    this.lines = [];
  }
}
