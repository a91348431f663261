import { toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { decodeSubscribeResponse } from '../../../protocols/gnmi/notification.ts';
import { SubscribeResponseSchema } from '../../../protocols/gnmi/schema.ts';
import { type Capture, type ExpectedRecord, readCaptures } from '../../support/gnmi-captures.ts';
import { type Leaf, leavesOf } from '../../support/gnmi-leaves.ts';
import { responseOf } from './full-decoder.ts';

const captures = readCaptures();
if (captures === undefined) console.log('skipped: GRATICULE_VECTORS is not set, no captures to decode');

describe.skipIf(captures === undefined)('the public captures', () => {
  it.each((captures ?? []).map((capture) => [capture.name, capture] as const))(
    '%s decodes to the values that it says',
    (_, capture) => {
      const decoded = decodeCapture(capture);
      for (const record of capture.expected) {
        const leaves = decoded.get(record.timestamp) ?? [];
        const missing = missingFields(record, leaves);
        expect(missing, `${record.timestamp}`).toEqual([]);
      }
    },
  );

  it.each((captures ?? []).map((capture) => [capture.name, capture] as const))(
    '%s decodes as the full protobuf decoder reads it',
    (_, capture) => {
      for (const message of capture.responses) {
        const bytes = toBinary(SubscribeResponseSchema, message);
        expect(decodeSubscribeResponse(bytes)).toEqual(responseOf(message));
      }
    },
  );
});

function decodeCapture(capture: Capture): Map<bigint, Leaf[]> {
  const leaves = new Map<bigint, Leaf[]>();
  for (const message of capture.responses) {
    const response = decodeSubscribeResponse(toBinary(SubscribeResponseSchema, message));
    if (response.kind !== 'notification') continue;
    const at = leaves.get(response.notification.timestamp) ?? [];
    leaves.set(response.notification.timestamp, [...at, ...leavesOf(response.notification)]);
  }
  return leaves;
}

function missingFields(record: ExpectedRecord, leaves: readonly Leaf[]) {
  return record.fields.filter(
    ({ name, value }) => !leaves.some((leaf) => leaf.name === name && sameValue(leaf.value, value)),
  );
}

/** Line protocol knows no more than a number's value: 13 and 13.0, a float32 and its widening, are the same. */
function sameValue(ours: Leaf['value'], theirs: Leaf['value']): boolean {
  if (ours === theirs) return true;
  if (typeof theirs === 'number' && (typeof ours === 'bigint' || typeof ours === 'number')) {
    return Number(ours) === theirs;
  }
  return String(ours) === String(theirs);
}
