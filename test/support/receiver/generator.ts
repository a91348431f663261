/**
 * `node test/support/receiver/generator.ts FIRST COUNT CYCLE [PAUSE]`: a worker of which only the record port is real.
 * Collects records FIRST to FIRST + COUNT − 1 in cycles of CYCLE, PAUSE ms apart, then ends. AWS is what the
 * environment says.
 */
import { guardCalls } from '../../../local/aws.ts';
import { addCollected } from '../../../store/delivery-counters.ts';
import { sendDelivery } from '../../../store/delivery-queue.ts';
import { getWebhookSwitch } from '../../../store/webhook-store.ts';
import { RecordPort } from '../../../worker/delivery/record-port.ts';
import { makeRecords } from './records.ts';

const [first = 1, count = 1, cycle = 1, pause = 0] = process.argv.slice(2).map(Number);

guardCalls(() => 'worker');
const port = new RecordPort({ send: sendDelivery, count: addCollected });
port.configure(await getWebhookSwitch());
for (let from = first; from < first + count; from += cycle) {
  const size = Math.min(cycle, first + count - from);
  port.collect(3, makeRecords(from, size));
  await new Promise((resolve) => setTimeout(resolve, pause));
}
await port.close();
// Peak resident memory in kilobytes, for who asks.
console.log(process.resourceUsage().maxRSS);
process.exit(0);
