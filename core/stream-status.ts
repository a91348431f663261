/** How one device stands with one protocol. */
export interface ProtocolStatus {
  readonly state: 'idle' | 'connecting' | 'connected' | 'backoff';
  readonly lastSuccess: string | null;
  readonly lastError: { readonly code: string; readonly detail: string; readonly at: string } | null;
}

/** How one subscription goes on one device, as its worker sees it. */
export interface StreamStatus {
  readonly subscriptionId: number;
  readonly state: 'idle' | 'connecting' | 'streaming' | 'polling' | 'backoff';
  /** Why nothing is collected, or `''`. */
  readonly reason: string;
  readonly protocol: '' | 'gnmi' | 'snmp';
  readonly mappingId: number | null;
  readonly modelVersion: string;
  readonly encoding: string;
  readonly lastSuccess: string | null;
  readonly lastError: { readonly code: string; readonly detail: string; readonly at: string } | null;
  readonly updates: number;
  readonly rows: number;
  readonly records: number;
  readonly drops: number;
  readonly coercionErrors: number;
  readonly cycleIncomplete: number;
  readonly clockSkew: number;
  readonly unmatchedPaths: readonly string[];
}

/** A device and its streams, as one worker sees them. */
export interface DeviceStatus {
  readonly deviceId: number;
  readonly worker: string;
  readonly epoch: number;
  readonly reason: string;
  readonly gnmi: ProtocolStatus | null;
  readonly snmp: ProtocolStatus | null;
  readonly streams: readonly StreamStatus[];
}

/** A stream that no worker has told of. */
export const UNSEEN_STREAM: Omit<StreamStatus, 'subscriptionId'> = {
  state: 'idle',
  reason: '',
  protocol: '',
  mappingId: null,
  modelVersion: '',
  encoding: '',
  lastSuccess: null,
  lastError: null,
  updates: 0,
  rows: 0,
  records: 0,
  drops: 0,
  coercionErrors: 0,
  cycleIncomplete: 0,
  clockSkew: 0,
  unmatchedPaths: [],
};

export function viewProtocol(status: ProtocolStatus | null) {
  return status === null
    ? null
    : { state: status.state, 'last-success': status.lastSuccess, 'last-error': status.lastError };
}

/** One entry of a subscription's `status`. */
export function viewStream(deviceId: number, device: string, status: Omit<StreamStatus, 'subscriptionId'>) {
  return {
    'device-id': deviceId,
    device,
    state: status.state,
    reason: status.reason,
    protocol: status.protocol,
    'mapping-id': status.mappingId,
    'model-version': status.modelVersion,
    encoding: status.encoding,
    'last-success': status.lastSuccess,
    'last-error': status.lastError,
    updates: status.updates,
    rows: status.rows,
    records: status.records,
    drops: status.drops,
    'coercion-errors': status.coercionErrors,
    'cycle-incomplete': status.cycleIncomplete,
    'clock-skew': status.clockSkew,
    'unmatched-paths': status.unmatchedPaths,
  };
}
