/** SubscribeRequests: which paths go into which RPC, and how each is written (gNMI specification §3.5). */
import { create, toBinary } from '@bufbuild/protobuf';
import { ENCODING_NUMBERS, type EncodingName, habitsOf } from './netos.ts';
import { formatPath, type Path } from './path.ts';
import { pathToMessage } from './path-message.ts';
import {
  GetRequestSchema,
  ListMode,
  type SubscribeRequestMessage,
  SubscribeRequestSchema,
  SubscriptionListSchema,
  SubscriptionMode,
} from './schema.ts';

export type StreamMode = 'sample' | 'on-change' | 'target-defined';

/** What is wanted of one device. Intervals in milliseconds; `heartbeatMilliseconds` 0 is none. */
export interface WantedPath {
  readonly path: Path;
  readonly mode: StreamMode;
  readonly intervalMilliseconds: number;
  readonly heartbeatMilliseconds: number;
}

/** One RPC: what it carries may share an RPC, and nothing more would fit into it. */
export interface SubscriptionGroup {
  /** Equal for equal content: an edit that leaves a group as it was leaves its RPC running. */
  readonly key: string;
  readonly origin: string;
  readonly mode: StreamMode | 'once' | 'poll';
  readonly paths: readonly WantedPath[];
}

/**
 * Sorts paths into RPCs: one a list mode, stream mode and origin, so that a device with 8 sessions is left
 * some. EOS refuses OpenConfig and native paths in one call; a target that refuses ON_CHANGE for one path
 * closes the RPC for all. Paths asked for twice in the same way are asked for once (SR OS: an error).
 */
export function groupSubscriptions(
  wanted: readonly WantedPath[],
  listMode: 'stream' | 'once' | 'poll',
  netos: string,
): readonly SubscriptionGroup[] {
  const { omitOrigin, shortestSampleMilliseconds = 0 } = habitsOf(netos);
  const groups = new Map<
    string,
    { origin: string; mode: SubscriptionGroup['mode']; paths: Map<string, WantedPath> }
  >();
  for (const each of wanted) {
    const origin = omitOrigin === true ? '' : each.path.origin;
    const mode = listMode === 'stream' ? each.mode : listMode;
    const intervalMilliseconds =
      mode === 'sample' && each.intervalMilliseconds > 0
        ? Math.max(each.intervalMilliseconds, shortestSampleMilliseconds)
        : each.intervalMilliseconds;
    const path = { ...each.path, origin };
    const groupKey = `${mode} ${origin}`;
    let group = groups.get(groupKey);
    if (group === undefined) {
      group = { origin, mode, paths: new Map() };
      groups.set(groupKey, group);
    }
    const pathKey = `${formatPath(path)} ${intervalMilliseconds} ${each.heartbeatMilliseconds}`;
    group.paths.set(pathKey, { ...each, path, intervalMilliseconds });
  }
  return [...groups.entries()].map(([groupKey, { origin, mode, paths }]) => ({
    key: `${groupKey} ${[...paths.keys()].sort().join('\n')}`,
    origin,
    mode,
    paths: [...paths.values()],
  }));
}

const MODE_NUMBERS: Readonly<Record<StreamMode, number>> = {
  sample: SubscriptionMode.SAMPLE,
  'on-change': SubscriptionMode.ON_CHANGE,
  'target-defined': SubscriptionMode.TARGET_DEFINED,
};

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

/**
 * The SubscribeRequest that opens a group's RPC. `target` goes into the prefix, and only when the device is
 * named in one: a target that was not sent must not appear in answers (§2.2.2.1). The origin goes into the
 * prefix where there is a prefix, else into each path, never into both (§2.7).
 */
export function encodeSubscribeRequest(
  group: SubscriptionGroup,
  encoding: EncodingName,
  target: string,
): Uint8Array {
  const listMode =
    group.mode === 'once' ? ListMode.ONCE : group.mode === 'poll' ? ListMode.POLL : ListMode.STREAM;
  const originInPrefix = target !== '';
  const prefix = originInPrefix ? { prefix: pathToMessage({ origin: group.origin, target, elem: [] }) } : {};
  return encodeRequest({
    case: 'subscribe',
    value: create(SubscriptionListSchema, {
      ...prefix,
      mode: listMode,
      encoding: ENCODING_NUMBERS[encoding],
      updatesOnly: false,
      subscription: group.paths.map((wanted) => ({
        path: pathToMessage({ ...wanted.path, origin: originInPrefix ? '' : group.origin, target: '' }),
        ...(listMode === ListMode.STREAM
          ? {
              mode: MODE_NUMBERS[wanted.mode],
              // TARGET_DEFINED with an interval may be rejected (§3.5.1.5.2).
              sampleInterval:
                wanted.mode === 'sample'
                  ? BigInt(wanted.intervalMilliseconds) * NANOSECONDS_PER_MILLISECOND
                  : 0n,
              heartbeatInterval: BigInt(wanted.heartbeatMilliseconds) * NANOSECONDS_PER_MILLISECOND,
            }
          : { mode: SubscriptionMode.TARGET_DEFINED, sampleInterval: 0n, heartbeatInterval: 0n }),
        suppressRedundant: false,
      })),
    }),
  });
}

/** Asks a POLL stream for one round (§3.5.1.5.3). */
export function encodePoll(): Uint8Array {
  return encodeRequest({ case: 'poll', value: { $typeName: 'gnmi.Poll' } });
}

/** A GetRequest for the same paths, of all data types. */
export function encodeGetRequest(paths: readonly Path[], encoding: EncodingName, target: string): Uint8Array {
  return toBinary(
    GetRequestSchema,
    create(GetRequestSchema, {
      ...(target === '' ? {} : { prefix: pathToMessage({ origin: '', target, elem: [] }) }),
      path: paths.map((path) => pathToMessage({ ...path, target: '' })),
      encoding: ENCODING_NUMBERS[encoding],
    }),
  );
}

function encodeRequest(request: SubscribeRequestMessage['request']): Uint8Array {
  return toBinary(SubscribeRequestSchema, create(SubscribeRequestSchema, { request }));
}
