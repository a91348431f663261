/** A consumer of the delivery queue that counts which device's cycle each record belongs to. */
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { ENV } from '../../../contract/env.ts';
import { nextDueAt } from '../../../core/collection-plan.ts';
import { parseDeliveryMessage } from '../../../core/delivery-message.ts';
import { sqs } from '../../../store/clients.ts';
import { openDelivery } from '../../../store/delivery-queue.ts';

interface DeliveredRecord {
  readonly 'device-id': number;
  readonly timestamp: string;
}

/** The collector's two clocks may differ a little. A poll ends as much before the next is due, however late it is. */
const TOLERANCE_MILLISECONDS = 100;

export class CycleCount {
  records = 0;
  /** Rows by device and by the number of the cycle since the epoch. */
  private readonly rows = new Map<number, Map<number, number>>();
  private readonly intervalMilliseconds: number;
  private readonly streamName: (deviceId: number) => string;
  private readonly phases = new Map<number, number>();

  constructor(intervalMilliseconds: number, streamName: (deviceId: number) => string) {
    this.intervalMilliseconds = intervalMilliseconds;
    this.streamName = streamName;
  }

  /** Devices that have been heard. */
  get devices(): number {
    return this.rows.size;
  }

  /** Takes what there is; waits up to a second when there is nothing. */
  async receive(): Promise<void> {
    const QueueUrl = process.env[ENV.deliveriesQueue];
    const { Messages = [] } = await sqs().send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    for (const { Body, ReceiptHandle } of Messages) {
      for (const { body } of await openDelivery(parseDeliveryMessage(Body ?? ''))) {
        for (const record of JSON.parse(Buffer.from(body).toString()) as DeliveredRecord[])
          this.count(record);
      }
      await sqs().send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }

  /** Cycles of a device that were due in [from, until), each with how many rows came of it. */
  cyclesOf(deviceId: number, from: number, until: number): number[] {
    const first = Math.ceil((from - this.phaseOf(deviceId)) / this.intervalMilliseconds);
    const end = Math.ceil((until - this.phaseOf(deviceId)) / this.intervalMilliseconds);
    const counted = this.rows.get(deviceId);
    return Array.from({ length: end - first }, (_, at) => counted?.get(first + at) ?? 0);
  }

  private count({ 'device-id': deviceId, timestamp }: DeliveredRecord): void {
    this.records += 1;
    const since = Date.parse(timestamp) - this.phaseOf(deviceId) + TOLERANCE_MILLISECONDS;
    const cycle = Math.floor(since / this.intervalMilliseconds);
    const counted = this.rows.get(deviceId) ?? new Map<number, number>();
    counted.set(cycle, (counted.get(cycle) ?? 0) + 1);
    this.rows.set(deviceId, counted);
  }

  private phaseOf(deviceId: number): number {
    const known = this.phases.get(deviceId);
    if (known !== undefined) return known;
    const phase =
      nextDueAt(this.streamName(deviceId), this.intervalMilliseconds, 0) % this.intervalMilliseconds;
    this.phases.set(deviceId, phase);
    return phase;
  }
}
