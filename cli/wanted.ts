/** What declarative files ask for, checked and in the API's own form. */

import { DEVICE_SECRETS } from '../core/device.ts';
import { DEVICE_READ_ONLY } from '../core/device-request.ts';
import { type Peer, peerIdentity } from '../core/peer.ts';
import { PEER_READ_ONLY } from '../core/peer-request.ts';
import { SUBSCRIPTION_READ_ONLY } from '../core/subscription-request.ts';
import type { Json, JsonObject } from './json-text.ts';
import type { SecretReference } from './secret-reference.ts';
import type { Place } from './source-file.ts';

/** Kinds of objects that have ids. */
export const KINDS = ['peer', 'device', 'model', 'subscription'] as const;
export type Kind = (typeof KINDS)[number];

export const COLLECTIONS: Readonly<Record<Kind, string>> = {
  peer: '/api/bgp/peers',
  device: '/api/v1/devices',
  model: '/api/v1/models',
  subscription: '/api/v1/subscriptions',
};

export const WEBHOOK_PATH = '/api/v1/outputs/webhook';

export interface WantedSecret {
  readonly reference: SecretReference;
  readonly place: Place;
}

export interface Wanted {
  readonly kind: Kind;
  /** What names it in the files: `name`, or `name@version` of a model. */
  readonly key: string;
  readonly place: Place;
  /** Every member that a file may give, defaults filled in; a secret is the mask where one is wanted, else empty. */
  readonly configuration: JsonObject;
  /** By where they stand in the configuration, `gnmi/password` for instance. */
  readonly secrets: ReadonlyMap<string, WantedSecret>;
  /** Devices that a subscription names by their names. */
  readonly deviceNames: ReadonlyArray<{ readonly name: string; readonly place: Place }>;
}

export interface WantedWebhook {
  readonly place: Place;
  readonly configuration: JsonObject;
  readonly secrets: ReadonlyMap<string, WantedSecret>;
}

/** A kind that no file speaks of is undefined: what there is of it is left alone. */
export interface WantedState {
  readonly objects: Readonly<Partial<Record<Kind, readonly Wanted[]>>>;
  readonly webhook: WantedWebhook | undefined;
}

const READ_ONLY: Readonly<Record<Kind, readonly string[]>> = {
  peer: PEER_READ_ONLY,
  device: DEVICE_READ_ONLY,
  model: ['id', 'activated-at', 'created-at', 'updated-at'],
  subscription: SUBSCRIPTION_READ_ONLY,
};

/** Where secrets stand in a configuration, as paths joined by `/`. */
export const SECRET_PLACES: Readonly<Record<Kind, readonly string[]>> = {
  peer: ['auth-password'],
  device: DEVICE_SECRETS.map((path) => path.join('/')),
  model: [],
  subscription: [],
};

/** An answer of the API without what the engine owns. */
export function configurationOf(kind: Kind, view: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(view).filter(([member]) => !READ_ONLY[kind].includes(member)));
}

/** What names an object of the API in the files. */
export function keyOf(kind: Kind, configuration: JsonObject): string {
  const { name, version } = configuration;
  return kind === 'model' ? `${name}@${version}` : String(name);
}

/**
 * What an object can be known by although its name was changed: address, port and local address of a peer, the address of
 * a device, the moment at which a model was made. `''`: nothing.
 */
export function identityOf(kind: Kind, view: JsonObject): string {
  switch (kind) {
    case 'peer':
      return peerIdentity(view as unknown as Peer['configuration']);
    case 'device':
      return String(view['address']);
    case 'model':
      return String(view['created-at'] ?? '');
    case 'subscription':
      return '';
  }
}

/** The value at a path joined by `/`; member names of headers may hold no `/`. */
export function valueAt(configuration: Json, path: string): Json | undefined {
  return path
    .split('/')
    .reduce<Json | undefined>(
      (value, member) =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? (value as JsonObject)[member]
          : undefined,
      configuration,
    );
}

/** A copy with another value at a path joined by `/`. */
export function withValueAt(configuration: JsonObject, path: string, value: Json): JsonObject {
  const [member, ...rest] = path.split('/') as [string, ...string[]];
  const inner = configuration[member];
  return {
    ...configuration,
    [member]:
      rest.length === 0 || typeof inner !== 'object' || inner === null || Array.isArray(inner)
        ? value
        : withValueAt(inner as JsonObject, rest.join('/'), value),
  };
}
