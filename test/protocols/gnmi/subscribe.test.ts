import { fromBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { formatPath, parsePath } from '../../../protocols/gnmi/path.ts';
import { pathFromMessage } from '../../../protocols/gnmi/path-message.ts';
import { SubscribeRequestSchema } from '../../../protocols/gnmi/schema.ts';
import {
  encodePoll,
  encodeSubscribeRequest,
  groupSubscriptions,
  type StreamMode,
  type SubscriptionGroup,
} from '../../../protocols/gnmi/subscribe.ts';

function wanted(text: string, mode: StreamMode = 'sample', intervalMilliseconds = 10_000) {
  const { path } = parsePath(text);
  if (path === undefined) throw new Error(text);
  return { path, mode, intervalMilliseconds, heartbeatMilliseconds: mode === 'on-change' ? 60_000 : 0 };
}

function listOf(group: SubscriptionGroup | undefined, target = '') {
  if (group === undefined) throw new Error('no group');
  const { request } = fromBinary(SubscribeRequestSchema, encodeSubscribeRequest(group, 'proto', target));
  if (request.case !== 'subscribe') throw new Error('no subscription list');
  return request.value;
}

describe('groupSubscriptions', () => {
  it('makes one RPC a mode and origin', () => {
    const groups = groupSubscriptions(
      [
        wanted('openconfig:/interfaces'),
        wanted('openconfig:/lldp'),
        wanted('eos_native:/Sysdb'),
        wanted('openconfig:/interfaces', 'on-change', 0),
      ],
      'stream',
      'eos',
    );
    expect(groups.map(({ mode, origin, paths }) => [mode, origin, paths.length])).toEqual([
      ['sample', 'openconfig', 2],
      ['sample', 'eos_native', 1],
      ['on-change', 'openconfig', 1],
    ]);
  });

  it('asks for a path once, and differently where the interval differs', () => {
    const [group] = groupSubscriptions(
      [wanted('/a'), wanted('/a'), wanted('/a', 'sample', 30_000)],
      'stream',
      'sros',
    );
    expect(group?.paths).toHaveLength(2);
  });

  it('keeps the key of what stayed the same, whatever the order', () => {
    const [one] = groupSubscriptions([wanted('/a'), wanted('/b')], 'stream', 'sros');
    const [two] = groupSubscriptions([wanted('/b'), wanted('/a')], 'stream', 'sros');
    const [three] = groupSubscriptions([wanted('/b')], 'stream', 'sros');
    expect(one?.key).toBe(two?.key);
    expect(one?.key).not.toBe(three?.key);
  });

  it('sends Junos no origin', () => {
    const [group] = groupSubscriptions([wanted('openconfig:/interfaces')], 'stream', 'junos');
    expect(listOf(group).subscription[0]?.path?.origin).toBe('');
  });
});

describe('encodeSubscribeRequest', () => {
  it('writes SAMPLE with its interval in nanoseconds and ON_CHANGE with its heartbeat', () => {
    const [sample, onChange] = groupSubscriptions(
      [wanted('/a'), wanted('/a', 'on-change', 0)],
      'stream',
      'eos',
    );
    expect(listOf(sample)).toMatchObject({
      mode: 0,
      encoding: 2,
      subscription: [{ mode: 2, sampleInterval: 10_000_000_000n, heartbeatInterval: 0n }],
    });
    expect(listOf(onChange)).toMatchObject({
      subscription: [{ mode: 1, sampleInterval: 0n, heartbeatInterval: 60_000_000_000n }],
    });
  });

  it('writes ONCE and POLL as list modes', () => {
    const [once] = groupSubscriptions([wanted('/a')], 'once', 'eos');
    const [poll] = groupSubscriptions([wanted('/a')], 'poll', 'eos');
    expect([listOf(once).mode, listOf(poll).mode]).toEqual([1, 2]);
    expect(fromBinary(SubscribeRequestSchema, encodePoll()).request.case).toBe('poll');
  });

  it('puts the origin into the paths, or with a target into the prefix, never into both', () => {
    const [group] = groupSubscriptions([wanted('openconfig:/a[k=v]/b')], 'stream', 'srlinux');
    const without = listOf(group);
    expect(without.prefix).toBeUndefined();
    expect(formatPath(pathFromMessage(without.subscription[0]?.path))).toBe('openconfig:/a[k=v]/b');
    const named = listOf(group, 'leaf1');
    expect(named.prefix).toMatchObject({ target: 'leaf1', origin: 'openconfig', elem: [] });
    expect(named.subscription[0]?.path?.origin).toBe('');
  });
});
